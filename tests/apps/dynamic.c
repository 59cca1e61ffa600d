/* dynamic.c - an MPI program that publishes names, connects and spawns; errors are told by their class, not fatal
 *
 *   names      rank 0 publishes a name, the last rank looks it up, rank 0 takes it back
 *   connect    rank 0 accepts all others, one after the other, on one port
 *   alone      rank 0 accepts, and nobody connects
 *   spawn N [COMMAND [WORD...]]    all spawn N processes of this program, or of COMMAND; what a child gets and all
 *              send is summed up, three times
 *   self       each rank spawns one process for itself
 *   two        one spawn of two programs, with words and a variable
 *   info KEY VALUE                 spawn one process with this wish
 *   exit C     spawn one process that exits with C after it has connected
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

static const char *me;

/* Children and parents add up: a child's rank + 1, 100 of each parent. */
static int add_up(MPI_Comm other, int mine)
{
    int sum = 0;

    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, other);
    return sum;
}

static void child(MPI_Comm parent, int argc, char **argv)
{
    const char *variable = getenv("GIVEN");
    int *number, given, sum = add_up(parent, rank + 1);

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &given);
    printf("child %d of %d program %d sum %d words %d %s variable %s\n", rank, size, given ? *number : -1, sum,
           argc - 1, argc > 1 ? argv[1] : "", variable ? variable : "none");
    fflush(stdout);
    MPI_Comm_disconnect(&parent);
    if (argc > 2 && !strcmp(argv[1], "exit"))
        exit(atoi(argv[2]));
}

static void spawn(const char *command, char **words, int n, MPI_Info info, MPI_Comm comm)
{
    int *codes = MPI_ERRCODES_IGNORE;
    MPI_Comm kids;
    int rc = MPI_Comm_spawn(command, words, n, info, 0, comm, &kids, codes);

    printf("%d spawn %s\n", rank, class_of(rc));
    fflush(stdout);
    if (rc)
        return;
    printf("%d sum %d\n", rank, add_up(kids, 100));
    MPI_Comm_disconnect(&kids);
}

static void two(void)
{
    char *commands[] = { (char *)me, (char *)me }, *a[] = { "one", NULL }, *b[] = { "two", "words", NULL };
    char **words[] = { a, b };
    int codes[3], n[] = { 2, 1 };
    MPI_Info infos[2];
    MPI_Comm kids;

    MPI_Info_create(&infos[0]);
    MPI_Info_set(infos[0], "env", "GIVEN=7");
    infos[1] = MPI_INFO_NULL;
    printf("spawn %s\n", class_of(MPI_Comm_spawn_multiple(2, commands, words, n, infos, 0, MPI_COMM_WORLD, &kids,
                                                          codes)));
    fflush(stdout);
    add_up(kids, 100);
    MPI_Comm_disconnect(&kids);
}

static void begin_spawn(int argc, char **argv)
{
    MPI_Info info;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (!strcmp(argv[1], "self")) {
        spawn(me, MPI_ARGV_NULL, 1, MPI_INFO_NULL, MPI_COMM_SELF);
    } else if (!strcmp(argv[1], "two")) {
        two();
    } else if (!strcmp(argv[1], "exit")) {
        spawn(me, argv + 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD);
    } else if (!strcmp(argv[1], "info")) {
        MPI_Info_create(&info);
        MPI_Info_set(info, argv[2], argv[3]);
        spawn(me, MPI_ARGV_NULL, 1, info, MPI_COMM_WORLD);
    } else {
        for (int i = 0; i < (argc > 3 ? 1 : 3); i++)
            spawn(argc > 3 ? argv[3] : me, argc > 4 ? argv + 4 : MPI_ARGV_NULL, atoi(argv[2]), MPI_INFO_NULL,
                  MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    me = argv[0];
    if (parent != MPI_COMM_NULL)
        child(parent, argc, argv);
    else if (!strcmp(what, "names"))
        names();
    else if (!strcmp(what, "connect"))
        join();
    else if (!strcmp(what, "alone"))
        alone();
    else if (argc > 1)
        begin_spawn(argc, argv);
    MPI_Finalize();
    return 0;
}
