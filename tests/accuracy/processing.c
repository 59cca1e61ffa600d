/* processing.c - paper 002's model under SMPI: a layer on MPI's profiling interface that takes the host's processor
 *
 * Each message passes C + t M of its host's time (the properties C, in s, and t, in s/byte, of the platform's hosts)
 * when it is sent, and as much of the receiver's when it is received: the k messages that one call completes one after
 * the other. It is linked with the benchmark, whose calls it wraps (processing.h): these and no others.
 */
#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>

#include <stdlib.h>

static double property(const char *name)
{
    const char *text = sg_host_get_property_value(sg_host_self(), name);

    return text ? strtod(text, NULL) : 0;
}

static void process(double bytes)
{
    double s = property("C") + bytes * property("t");

    if (s > 0)
        sg_actor_sleep_for(s);
}

static double size_of(int count, MPI_Datatype type)
{
    int size;

    PMPI_Type_size(type, &size);
    return (double)count * size;
}

static void process_received(MPI_Status *status)
{
    int bytes;

    PMPI_Get_count(status, MPI_BYTE, &bytes);
    process(bytes);
}

int processing_send(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    process(size_of(count, type));
    return PMPI_Send(buf, count, type, to, tag, comm);
}

int processing_recv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    int rc = PMPI_Recv(buf, count, type, from, tag, comm, &own);

    process_received(&own);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return rc;
}

int processing_sendrecv(const void *out, int nout, MPI_Datatype out_type, int to, int out_tag, void *in, int nin,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request receive, send;
    MPI_Status own;

    PMPI_Irecv(in, nin, in_type, from, in_tag, comm, &receive);
    process(size_of(nout, out_type));
    PMPI_Isend(out, nout, out_type, to, out_tag, comm, &send);
    PMPI_Wait(&receive, &own);
    process_received(&own);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return PMPI_Wait(&send, MPI_STATUS_IGNORE);
}

/* Of receives: the benchmark waits for no other requests. */
int processing_wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Status own;
    int rc = PMPI_Wait(request, &own);

    process_received(&own);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return rc;
}

/* In the order in which they come; statuses are not wanted. */
int processing_waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    (void)statuses;
    for (int i = 0; i < n; i++) {
        MPI_Status own;
        int which;

        PMPI_Waitany(n, requests, &which, &own);
        process_received(&own);
    }
    return MPI_SUCCESS;
}
