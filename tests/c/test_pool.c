/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The pool: every job once, failures, many callers, runs inside jobs, forks. Also the processors of this machine and
 * VCZC_CPU, which are read once per process and so are looked at in children. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "check.h"
#include "cpu.h"
#include "forking.h"
#include "mem.h"
#include "pool.h"
#include "status.h"
#include "thread.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

enum { NCELLS = 2000, NCALLERS = 8 };

/* How many threads were inside jobs at once. No mutex: a child that is forked while it is held would wait for ever. */
enum { MAX_INSIDE = 64 };

typedef struct {
    vczi_atomic_t ninside;
    vczi_atomic_t times[MAX_INSIDE]; /* that so many were inside */
} crowd_t;

static void enter(crowd_t *crowd) {
    const int64_t ninside = vczi_atomic_add(&crowd->ninside, 1) + 1;
    (void) vczi_atomic_add(&crowd->times[ninside < MAX_INSIDE ? ninside : MAX_INSIDE - 1], 1);
}

static void leave(crowd_t *crowd) {
    (void) vczi_atomic_add(&crowd->ninside, -1);
}

static int max_inside(const crowd_t *crowd) {
    int most = MAX_INSIDE - 1;
    while (most > 0 && vczi_atomic_load(&crowd->times[most]) == 0) {
        most--;
    }
    return most;
}

typedef struct {
    vczi_atomic_t *counts; /* how often each job was run */
    crowd_t crowd;
    int64_t first_failing; /* -1: none */
    bool is_slow;
} work_t;

static void burn(int nrounds) {
    volatile unsigned number = 0;
    for (int i = 0; i < nrounds; i++) {
        number = number + (unsigned) i;
    }
}

static int count_job(void *user, int64_t job) {
    work_t *work = user;
    enter(&work->crowd);
    (void) vczi_atomic_add(&work->counts[job], 1);
    if (work->is_slow) {
        burn(20000);
    }
    leave(&work->crowd);
    if (work->first_failing >= 0 && job >= work->first_failing) {
        return vczi_fail(VCZC_ERR_CORRUPT, "job %lld", (long long) job);
    }
    return 0;
}

static void init_work(work_t *work) {
    memset(work, 0, sizeof(*work));
    work->first_failing = -1;
    work->counts = vczi_alloc_zeroed(NCELLS, sizeof(*work->counts));
}

static void check_each_once(const work_t *work, int64_t njobs) {
    for (int64_t job = 0; job < NCELLS; job++) {
        if (!CHECK_EQ(vczi_atomic_load(&work->counts[job]), job < njobs ? 1 : 0)) {
            return;
        }
    }
}

static void test_every_job_runs_once(void) {
    static const int64_t njobs[] = {0, 1, 2, 3, 7, NCELLS};
    for (size_t i = 0; i < sizeof(njobs) / sizeof(njobs[0]); i++) {
        for (int nthreads = 0; nthreads <= 5; nthreads++) {
            work_t work;
            init_work(&work);
            CHECK_EQ(vczi_pool_run(njobs[i], nthreads, count_job, &work), 0);
            check_each_once(&work, njobs[i]);
            CHECK(nthreads == 0 || max_inside(&work.crowd) <= nthreads);
            vczi_free(work.counts);
        }
    }
    CHECK_EQ(vczi_pool_run(-1, 2, count_job, NULL), 0);
}

/* Two jobs that wait for each other end only where two threads do them. */
typedef struct {
    vczi_mutex_t mutex;
    vczi_cond_t met;
    int nhere;
} meeting_t;

static int meet_job(void *user, int64_t job) {
    meeting_t *meeting = user;
    (void) job;
    vczi_mutex_lock(&meeting->mutex);
    meeting->nhere++;
    vczi_cond_broadcast(&meeting->met);
    while (meeting->nhere < 2) {
        vczi_cond_wait(&meeting->met, &meeting->mutex);
    }
    vczi_mutex_unlock(&meeting->mutex);
    return 0;
}

static void test_jobs_run_at_once(void) {
    meeting_t meeting = {VCZI_MUTEX_INIT, VCZI_COND_INIT, 0};
    CHECK_EQ(vczi_pool_run(2, 2, meet_job, &meeting), 0);
    CHECK_EQ(meeting.nhere, 2);
}

static void test_lowest_failure_wins(void) {
    for (int round = 0; round < 300; round++) {
        work_t work;
        char expected[32];
        init_work(&work);
        work.first_failing = round * 5;
        (void) snprintf(expected, sizeof(expected), "job %d", round * 5);
        CHECK_EQ(vczi_pool_run(NCELLS, 1 + round % 4, count_job, &work), VCZC_ERR_CORRUPT);
        CHECK_STR(vczi_detail_view()->reason, expected);
        for (int64_t job = 0; job <= round * 5; job++) {
            CHECK_EQ(vczi_atomic_load(&work.counts[job]), 1);
        }
        CHECK_EQ(vczi_atomic_load(&work.counts[NCELLS - 1]), 0); /* jobs that had not begun were left out */
        vczi_free(work.counts);
    }
}

static int nested_job(void *user, int64_t job) {
    work_t inner;
    (void) user;
    init_work(&inner);
    inner.first_failing = job == 5 ? 40 : -1;
    const int ret = vczi_pool_run(50, 4, count_job, &inner);
    if (ret == 0) {
        check_each_once(&inner, 50);
    }
    CHECK_EQ(max_inside(&inner.crowd), 1);
    vczi_free(inner.counts);
    return ret;
}

static void test_run_inside_a_job_is_alone(void) {
    CHECK_EQ(vczi_pool_run(20, 4, nested_job, NULL), VCZC_ERR_CORRUPT);
    CHECK_STR(vczi_detail_view()->reason, "job 40");
    CHECK_EQ(vczi_pool_run(5, 1, nested_job, NULL), 0); /* asked for one thread, the inner run keeps to it */
}

static int meet_inside_job(void *user, int64_t job) {
    (void) job;
    return vczi_pool_run(2, 2, meet_job, user);
}

static void test_run_inside_an_only_job_has_help(void) {
    meeting_t meeting = {VCZI_MUTEX_INIT, VCZI_COND_INIT, 0};
    CHECK_EQ(vczi_pool_run(1, 2, meet_inside_job, &meeting), 0);
}

typedef struct {
    int ncalls;
    int nthreads;
    crowd_t *crowd;
    int nwrong;
} caller_t;

static int shared_job(void *user, int64_t job) {
    caller_t *caller = user;
    enter(caller->crowd);
    burn(500);
    leave(caller->crowd);
    if (caller->ncalls % 3 == 0 && job >= 11) {
        return vczi_fail(VCZC_ERR_STORE, "job %lld", (long long) job);
    }
    return 0;
}

static void call_often(void *user) {
    caller_t *caller = user;
    for (; caller->ncalls > 0; caller->ncalls--) {
        const bool fails = caller->ncalls % 3 == 0;
        const int ret = vczi_pool_run(30, caller->nthreads, shared_job, caller);
        caller->nwrong += ret != (fails ? VCZC_ERR_STORE : 0);
        caller->nwrong += fails && strcmp(vczi_detail_view()->reason, "job 11") != 0;
    }
}

static int run_callers(int nthreads) {
    crowd_t crowd;
    vczi_thread_t threads[NCALLERS];
    caller_t callers[NCALLERS];
    memset(&crowd, 0, sizeof(crowd));
    for (int i = 0; i < NCALLERS; i++) {
        const caller_t caller = {60, nthreads, &crowd, 0};
        callers[i] = caller;
        CHECK_EQ(vczi_thread_start(&threads[i], call_often, &callers[i]), 0);
    }
    for (int i = 0; i < NCALLERS; i++) {
        vczi_thread_join(&threads[i]);
        CHECK_EQ(callers[i].nwrong, 0);
    }
    return max_inside(&crowd);
}

static void test_many_callers(void) {
    vczi_pool_set_threads(3);
    CHECK(run_callers(0) <= NCALLERS + 2); /* 2 helpers of the first call may be there still when the others come */
    CHECK(run_callers(NCALLERS + 4) <= NCALLERS + NCALLERS + 3);
    vczi_pool_set_threads(0);
}

static void test_thread_count(void) {
    const int by_default = vczi_pool_threads();
    CHECK(by_default >= 1);
    vczi_pool_set_threads(7);
    CHECK_EQ(vczi_pool_threads(), 7);
    vczi_pool_set_threads(-3);
    CHECK_EQ(vczi_pool_threads(), by_default);
    vczi_pool_set_threads(0);
    CHECK_EQ(vczi_pool_threads(), by_default);
    CHECK(vczi_thread_processors() >= 1);
}

static vczi_atomic_t nexits;

static void count_exit(void *value) {
    (void) vczi_atomic_add(&nexits, *(int *) value);
}

static uintptr_t exit_slot;

static void set_exit(void *user) {
    vczi_thread_exit_set(exit_slot, NULL);
    vczi_thread_exit_set(exit_slot, user);
}

static void test_thread_exit_slot(void) {
    vczi_thread_t thread;
    int value = 5;
    CHECK_EQ(vczi_thread_exit_open(&exit_slot, count_exit), 0);
    CHECK_EQ(vczi_thread_start(&thread, set_exit, &value), 0);
    vczi_thread_join(&thread);
    CHECK_EQ(vczi_atomic_load(&nexits), 5);
    vczi_thread_exit_close(exit_slot);
}

#ifndef _WIN32
static int threads_of(const char *text) {
    (void) setenv("VCZC_NUM_THREADS", text, 1);
    vczi_pool_set_threads(0);
    return vczi_pool_threads();
}

static void test_environment_gives_the_thread_count(void) {
    static const char *const ignored[] = {"", "0", "-2", "two", "3x", " 3", "0x3", "1.5"};
    (void) unsetenv("VCZC_NUM_THREADS");
    vczi_pool_set_threads(0);
    CHECK_EQ(vczi_pool_threads(), vczi_thread_processors());
    CHECK_EQ(in_child(threads_of, "3"), 3);
    CHECK_EQ(in_child(threads_of, "017"), 17);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
        CHECK_EQ(in_child(threads_of, ignored[i]), vczi_thread_processors());
    }
}

#if CAN_FORK_AMONG_THREADS
/* 0 where a pool works in this process: two threads meet, and all jobs run. */
static int pool_works(const char *unused) {
    meeting_t meeting = {VCZI_MUTEX_INIT, VCZI_COND_INIT, 0};
    work_t work;
    (void) unused;
    init_work(&work);
    int nwrong = vczi_pool_run(2, 2, meet_job, &meeting) != 0;
    nwrong += vczi_pool_run(NCELLS, 4, count_job, &work) != 0;
    for (int64_t job = 0; job < NCELLS; job++) {
        nwrong += vczi_atomic_load(&work.counts[job]) != 1;
    }
    vczi_free(work.counts);
    return nwrong != 0;
}

static void test_child_starts_a_pool_of_its_own(void) {
    CHECK_EQ(pool_works(NULL), 0);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(in_child(pool_works, NULL), 0);
        CHECK_EQ(pool_works(NULL), 0);
    }
}

static vczi_atomic_t is_stopped;

static void run_until_stopped(void *user) {
    (void) user;
    while (vczi_atomic_load(&is_stopped) == 0) {
        work_t work;
        init_work(&work);
        work.is_slow = true;
        CHECK_EQ(vczi_pool_run(20, 3, count_job, &work), 0);
        check_each_once(&work, 20);
        vczi_free(work.counts);
    }
}

static void test_fork_in_the_middle_of_runs(void) {
    vczi_thread_t threads[2];
    vczi_atomic_store(&is_stopped, 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(vczi_thread_start(&threads[i], run_until_stopped, NULL), 0);
    }
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(in_child(pool_works, NULL), 0);
    }
    vczi_atomic_store(&is_stopped, 1);
    for (int i = 0; i < 2; i++) {
        vczi_thread_join(&threads[i]);
    }
}

/* Both jobs meet, so that each has a thread; job 0 then forks a child that goes on where it is. */
typedef struct {
    meeting_t meeting;
    pid_t children[2];
    pid_t parent;
} forking_t;

static int forking_job(void *user, int64_t job) {
    forking_t *forking = user;
    (void) meet_job(&forking->meeting, job);
    const pid_t child = fork();
    if (child == 0) {
        (void) alarm(60);
        return 0;
    }
    forking->children[job] = child;
    return 0;
}

static void test_fork_inside_a_job(void) {
    forking_t forking = {{VCZI_MUTEX_INIT, VCZI_COND_INIT, 0}, {-1, -1}, getpid()};
    (void) fflush(NULL);
    const int ret = vczi_pool_run(2, 2, forking_job, &forking);
    if (getpid() != forking.parent) {
        /* The child of the thread that called: it is told that the call is lost, and has a pool again. The child of
         * the helper never comes here: it ends with its thread. */
        _exit(ret == VCZC_ERR_INTERNAL && pool_works(NULL) == 0 ? 0 : 1);
    }
    CHECK_EQ(ret, 0);
    for (int i = 0; i < 2; i++) {
        int status = -1;
        CHECK(waitpid(forking.children[i], &status, 0) == forking.children[i]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    CHECK_EQ(pool_works(NULL), 0);
}

/* A process ends while the pool's threads wait or work. */
static void run_once(void *user) {
    (void) user;
    static work_t work; /* the process may end before the run does: what it holds has to be found by a leak checker */
    init_work(&work);
    work.is_slow = true;
    (void) vczi_pool_run(NCELLS, 3, count_job, &work);
    vczi_free(work.counts);
}

static int exit_while_running(const char *unused) {
    vczi_thread_t thread;
    (void) unused;
    if (vczi_thread_start(&thread, run_once, NULL) != 0) {
        return 1;
    }
    burn(1000000);
    exit(7);
}

static void test_exit_does_not_wait(void) {
    CHECK_EQ(in_child(exit_while_running, NULL), 7);
}

#endif

/* ---- processor ---- */

static int level_number(const char *word) {
    static const char *const words[] = {"generic", "sse2", "ssse3", "avx2", "avx512", "neon"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(word, words[i]) == 0) {
            return i;
        }
    }
    return 99;
}

static int level_with(const char *word) {
    (void) setenv("VCZC_CPU", word, 1);
    return level_number(vczi_cpu_level());
}

static int features_with(const char *word) {
    (void) setenv("VCZC_CPU", word, 1);
    return vczi_cpu_features() == 0 ? 0 : (vczi_cpu_features() & ~(uint32_t) VCZI_CPU_SSE2) == 0 ? 1 : 2;
}

static void test_cpu_variable_takes_away(void) {
    const int level = in_child(level_with, "");
    CHECK(level >= 0 && level < 99);
    CHECK_EQ(in_child(level_with, "generic"), 0);
    CHECK_EQ(in_child(features_with, "generic"), 0);
    CHECK_EQ(in_child(level_with, "nonsense"), level);
    CHECK_EQ(in_child(level_with, "AVX2"), level);
    if (level < level_number("neon")) {
        for (int i = 1; i <= 4; i++) {
            static const char *const words[] = {"", "sse2", "ssse3", "avx2", "avx512"};
            CHECK_EQ(in_child(level_with, words[i]), i < level ? i : level);
        }
        CHECK_EQ(in_child(features_with, "sse2"), level == 0 ? 0 : 1);
        CHECK_EQ(in_child(level_with, "neon"), level);
    }
}
#endif

static void test_cpu_features_agree_with_the_compiler(void) {
    const uint32_t features = vczi_cpu_features();
    CHECK_EQ(vczi_cpu_features(), features);
#if defined(__x86_64__) || defined(_M_X64)
    CHECK(features & VCZI_CPU_SSE2);
    CHECK(!(features & VCZI_CPU_AVX512) || (features & VCZI_CPU_AVX2));
    CHECK(!(features & VCZI_CPU_AVX2) || (features & VCZI_CPU_SSSE3));
#if defined(__GNUC__)
    CHECK_EQ((features & VCZI_CPU_SSSE3) != 0, __builtin_cpu_supports("ssse3") != 0);
    CHECK_EQ((features & VCZI_CPU_SSE42) != 0, __builtin_cpu_supports("sse4.2") != 0);
    CHECK_EQ((features & VCZI_CPU_AVX2) != 0, __builtin_cpu_supports("avx2") != 0);
    CHECK_EQ((features & VCZI_CPU_BMI2) != 0, __builtin_cpu_supports("bmi2") != 0);
    CHECK_EQ((features & VCZI_CPU_AVX512) != 0,
             __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
    CHECK_EQ((features & VCZI_CPU_VBMI) != 0, __builtin_cpu_supports("avx512vbmi") != 0);
    CHECK_EQ((features & VCZI_CPU_GFNI) != 0, __builtin_cpu_supports("gfni") != 0);
#endif
#elif defined(__aarch64__) || defined(_M_ARM64)
    CHECK(features & VCZI_CPU_NEON);
#endif
}

int main(void) {
#ifndef _WIN32
    (void) unsetenv("VCZC_CPU");
    RUN(test_cpu_variable_takes_away); /* before this process reads it */
#endif
    RUN(test_cpu_features_agree_with_the_compiler);
    RUN(test_every_job_runs_once);
    RUN(test_jobs_run_at_once);
    RUN(test_lowest_failure_wins);
    RUN(test_run_inside_a_job_is_alone);
    RUN(test_run_inside_an_only_job_has_help);
    RUN(test_many_callers);
    RUN(test_thread_count);
    RUN(test_thread_exit_slot);
#ifndef _WIN32
    RUN(test_environment_gives_the_thread_count);
#if CAN_FORK_AMONG_THREADS
    RUN(test_child_starts_a_pool_of_its_own);
    RUN(test_fork_in_the_middle_of_runs);
    RUN(test_fork_inside_a_job);
    RUN(test_exit_does_not_wait);
#endif
#endif
    return check_result();
}
