/* processing.h - included before the benchmark's sources, so that its calls of MPI go through processing.c
 *
 * SimGrid loads programs in a way by which its own functions are found before those of a layer of the same names.
 */
#ifndef HRUN_TESTS_PROCESSING_H
#define HRUN_TESTS_PROCESSING_H

#include <mpi.h>

int processing_send(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int processing_recv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status);
int processing_sendrecv(const void *out, int nout, MPI_Datatype out_type, int to, int out_tag, void *in, int nin,
                        MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status);
int processing_wait(MPI_Request *request, MPI_Status *status);
int processing_waitall(int n, MPI_Request *requests, MPI_Status *statuses);

#undef MPI_Send
#undef MPI_Recv
#undef MPI_Sendrecv
#undef MPI_Wait
#undef MPI_Waitall
#define MPI_Send processing_send
#define MPI_Recv processing_recv
#define MPI_Sendrecv processing_sendrecv
#define MPI_Wait processing_wait
#define MPI_Waitall processing_waitall

#endif
