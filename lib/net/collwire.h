/* collwire.h - what hrun tells libhrun-coll.so of the network: the language between the two
 *
 * Purpose: the library that is preloaded into an application's ranks (hrun/coll) chooses how a collective operation is
 * done by the parameters of net.h. It finds them in a variable of its environment, as hosts need not share a folder.
 * Invariants: the text is the same for all ranks, so that all of them choose the same.
 * Format: records with ';' between them, a record is words with ',' between them; times in s, sizes in bytes, rates in
 * bytes/s (0: no limit), numbers with 6 digits, as parameters are known to a percent or so. Hosts, classes and groups
 * are those that ranks are on, counted anew from 0. In this order:
 *     b,VERSION,P,HOSTS,CLASSES,GROUPS,SYNC,MARGIN,COST,PATIENCE  first: ranks in all; rendezvous from SYNC bytes
 *                                            on; another way is taken where it saves this part of the time and this
 *                                            long, once the same operation has been called PATIENCE times (tune.h)
 *     t,M1,M2,IRREGULAR                      a linear gather of M1..M2 bytes per rank takes so much longer on average
 *     s,FROM,A,B                             segments of the sizes
 *     c,CLASS,C,T,OUT,IN,LOCAL,KINDS,F,B,... each class: fixed, per byte, ports, memory; KINDS by KINDS times what a
 *                                            message inside a host takes, fixed and per byte
 *     p,FROM,TO,L,BETA                       pairs of classes that were measured
 *     g,FROM,TO,RATE                         trunks between groups that limit
 *     h,HOST,CLASS,GROUP                     each host
 *     r,FIRST,LAST,HOST,KIND                 ranks FIRST..LAST of the world, ascending without a gap
 *     u,OP,N,BYTES,ALGORITHM                 from N ranks and BYTES on (both as far as the next record of OP) the MPI
 *                                            library takes ALGORITHM; a row of N begins at 0 bytes
 *     f,OP,WAY                               take WAY for OP whatever the model says (for tests and comparisons)
 *     v,1                                    tell at the end what was tuned
 *     e,RECORDS                              last: records before this one
 * What is told goes to standard error of rank 0 in MPI_Finalize, in lines of trace/wire.h (mark, body, check) whose
 * body begins with HRUN_COLL_TOLD, so that hrun finds them among those of libhrun-trace.so. A body is one record, of
 * one choice for a communicator of rank 0, in the order in which they were first tried:
 *     k,OP,RANKS,ROOT,BYTES,WAY,SEGMENT,KEPT,CALLS,LIBRARY,OURS  BYTES as sizes are rounded for the choice (-1: a
 *                                            variant with counts); SEGMENT as of a piece, 0: none; KEPT 1: it was
 *                                            quicker and stays, 0: it was not, -1: the trial has not ended, 2: it was
 *                                            to be taken without a trial; how many calls went this way; what a call of
 *                                            either took, s, as they were compared (0: they were not)
 *     m,MORE                                 last, if need be: so many choices more, which are not told
 */
#ifndef HRUN_NET_COLLWIRE_H
#define HRUN_NET_COLLWIRE_H

#define HRUN_COLL_VARIABLE "HRUN_COLL"
#define HRUN_COLL_VERSION 1
#define HRUN_COLL_TOLD "coll "

/* One variable of the environment holds at most 128 KiB. */
enum { HRUN_COLL_TEXT = 100000 };

#endif
