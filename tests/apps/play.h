/* play.h - the test applications as skeletons under SimGrid's SMPI: the messages are real, the arithmetic is counted
 *
 * Purpose: built with smpicc -DHRUN_SMPI the sources of the applications send every message that the real programs
 * send, and say how many operations they would do in place of doing them (smpi_execute_flops). So a simulator plays
 * a run of minutes in a fraction of a second, and the time of a configuration is a fact that can be looked up
 * (tests/accuracy). Without HRUN_SMPI all this is what stands in the sources, and costs nothing.
 * Invariants: APP_WORK stands around all arithmetic that takes time, with its operations by the count of the source
 * (additions and multiplications; a number that is only moved counts as one); what is left decides on messages alone,
 * and never looks at numbers that were not computed. Only buffers that messages read or write come from app_alloc:
 * their contents are shared by all ranks and worth nothing.
 * Long iterations are played in part: after APP_PLAY_WARM passes of a loop the next APP_PLAY_KEPT are timed, and each
 * rank sleeps through the others at their pace. The simulator has no noise, so the pace is the same throughout.
 */
#ifndef HRUN_TESTS_APPS_PLAY_H
#define HRUN_TESTS_APPS_PLAY_H

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#ifdef HRUN_SMPI
#include <smpi/smpi.h>
#define APP_PLAYED 1
#define app_play_flops(flops) smpi_execute_flops(flops)
#else
#define APP_PLAYED 0
#define app_play_flops(flops) ((void)(flops))
#endif

/* Do the work, or let the simulator pass the time of so many operations. */
#define APP_WORK(flops, ...)                     \
    do {                                         \
        if (APP_PLAYED) {                        \
            double app_flops_ = (double)(flops); \
            if (app_flops_ > 0)                  \
                app_play_flops(app_flops_);      \
        } else {                                 \
            __VA_ARGS__;                         \
        }                                        \
    } while (0)

#ifndef APP_PLAY_WARM
#define APP_PLAY_WARM 1
#endif
#ifndef APP_PLAY_KEPT
#define APP_PLAY_KEPT 2
#endif

/* ---------------------------------------------------------------- loops */

struct app_pace {
    double mark;            /* when the warm passes were over */
};

/* How many passes of `count` are done after this one, of which `done` were done before it. */
__attribute__((unused))
static long app_next(struct app_pace *pace, long done, long count)
{
#ifdef HRUN_SMPI
    double left, now = MPI_Wtime();
    struct timespec t;

    done++;
    if (done == APP_PLAY_WARM)
        pace->mark = now;
    if (done != APP_PLAY_WARM + APP_PLAY_KEPT || done >= count)
        return done;
    left = (now - pace->mark) / APP_PLAY_KEPT * (double)(count - done);
    t.tv_sec = (time_t)left;
    t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
    return count;
#else
    (void)pace;
    (void)count;
    return done + 1;
#endif
}

/* ---------------------------------------------------------------- buffers of messages */

/* As malloc, zeroed where it holds real numbers; released with app_free. All buffers of a skeleton are pieces of one
 * piece of memory that the simulator maps on few pages, and whose messages it does not copy. Beyond its end only
 * those of a single process, who sends nothing, are granted. */
enum { APP_ARENA = 1 << 27 };

struct app_arena {
    char *base;
    size_t used;
};

__attribute__((unused))
static void *app_alloc(struct app_arena *arena, int ranks, size_t count, size_t size)
{
#ifdef HRUN_SMPI
    size_t bytes = (count * size + 63) / 64 * 64;
    char *p;

    if (!arena->base)
        arena->base = SMPI_SHARED_MALLOC(APP_ARENA);
    if (!arena->base || (bytes > APP_ARENA && ranks > 1))
        return NULL;
    if (arena->used + bytes > APP_ARENA)
        arena->used = 0;
    p = arena->base + arena->used;
    arena->used += bytes > APP_ARENA ? 0 : bytes;
    return p;
#else
    (void)arena;
    (void)ranks;
    return calloc(count, size);
#endif
}

__attribute__((unused))
static void app_free(void *p)
{
    if (!APP_PLAYED)
        free(p);
}

#endif
