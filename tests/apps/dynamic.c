/* dynamic.c - an MPI program that publishes names, connects and spawns; errors are told by their class, not fatal
 *
 *   names      rank 0 publishes a name, the last rank looks it up, rank 0 takes it back
 *   connect    rank 0 accepts all others, one after the other, on one port
 *   alone      rank 0 accepts, and nobody connects
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static const char *class_of(int rc)
{
    static char text[MPI_MAX_ERROR_STRING];
    int class, len;

    MPI_Error_class(rc, &class);
    MPI_Error_string(class, text, &len);
    text[strcspn(text, ":")] = 0;
    return text;
}

static void names(void)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
    int rc;

    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        printf("publish %s\n", class_of(MPI_Publish_name("a name", MPI_INFO_NULL, port)));
        printf("publish again %s\n", class_of(MPI_Publish_name("a name", MPI_INFO_NULL, port)));
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == size - 1) {
        rc = MPI_Lookup_name("a name", MPI_INFO_NULL, found);
        printf("lookup %s %s\n", class_of(rc), strcmp(port, found) ? "different" : "equal");
        printf("lookup of another %s\n", class_of(MPI_Lookup_name("another", MPI_INFO_NULL, found)));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("unpublish %s\n", class_of(MPI_Unpublish_name("a name", MPI_INFO_NULL, port)));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        printf("lookup of what is gone %s\n", class_of(MPI_Lookup_name("a name", MPI_INFO_NULL, found)));
}

static void join(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    int sum = 0, got;

    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        MPI_Recv(&got, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
        sum += got;
        MPI_Comm_disconnect(&other);
    }
    if (rank > 0) {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        MPI_Send(&rank, 1, MPI_INT, 0, 0, other);
        MPI_Comm_disconnect(&other);
    } else {
        printf("sum %d\n", sum);
    }
}

static void alone(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Open_port(MPI_INFO_NULL, port);
    if (rank == 0)
        printf("accept %s\n", class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other)));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!strcmp(what, "names"))
        names();
    else if (!strcmp(what, "connect"))
        join();
    else if (!strcmp(what, "alone"))
        alone();
    MPI_Finalize();
    return 0;
}
