/* play.h - how long an operation along a tree takes
 *
 * Purpose: the messages of scatter, gather and broadcast played through the three stages of lib/net/net.h.
 * What is simpler than there: bytes that share a port or a trunk go one message after the other, where net.h gives each
 * its fair share (the last one ends at the same time); a gather is a scatter backwards, as each stage of the one is a
 * stage of the other (paper 002, section 3, has the same formula for both).
 */
#ifndef HRUN_COLL_PLAY_H
#define HRUN_COLL_PLAY_H

#include "tree.h"

struct coll_play {
    enum coll_op op;
    double bytes;              /* scatter, gather: of each rank; bcast: of the message */
    double segment;            /* bcast: handed on in pieces of so many bytes; 0: in one */
    int blocking;              /* 1: beyond rendezvous a sender waits until its bytes have gone */
};

/* -1: a time is not known. */
double coll_play(const struct coll_net *net, const struct coll_ranks *ranks, const struct coll_tree *tree,
                 const struct coll_play *what);

#endif
