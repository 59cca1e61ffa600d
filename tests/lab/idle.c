/* idle.c - preloaded on the lab: a process that waits sleeps, instead of using up its host's quota
 *
 * A lab host is slow because it may run only for a part of each 10 ms. A process that waits for a message by polling
 * spends that part on waiting, and is then stopped when the message comes: every exchange takes a whole period, which
 * no real slow host does. With yielding waits (mpi_yield_when_idle) Open MPI calls sched_yield between two looks; here
 * that sleeps. 200 us cost 2 % of a core for waiting, and are the latency of a slow network.
 */
#include <sched.h>
#include <time.h>

int sched_yield(void)
{
    static const struct timespec pause = { 0, 150000 };   /* the kernel adds its timer slack of 50 us */

    nanosleep(&pause, NULL);
    return 0;
}
