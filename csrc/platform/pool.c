/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The pool. A call lies on its caller's stack and stands in a list while jobs of it may be taken; helpers come and go
 * under the pool's mutex, and the caller stays until the last has gone. Jobs are handed out by counting up, so every
 * job below one that has begun has begun too: the lowest failure does not depend on timing. */
#include "pool.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "atomic.h"
#include "compiler.h"
#include "mem.h"
#include "status.h"
#include "thread.h"

/* More threads than any machine has processors: a ceiling for what users ask for. */
#define MAX_THREADS 4096

typedef struct call call_t;
typedef struct worker worker_t;

/* A thread of the pool. All but `thread` under the pool's mutex. */
struct worker {
    worker_t *next;
    vczi_thread_t thread;
    bool is_busy; /* inside a call */
    bool leaves;  /* is to end, and is in no list any more */
};

struct call {
    call_t *previous, *next; /* in the list of open calls */
    vczi_job_fn function;
    void *user;
    int64_t njobs;
    int nthreads; /* at most, the caller among them */
    vczi_atomic_t next_job;
    uint64_t generation; /* of the pool when the call began */
    /* Under the pool's mutex: */
    int nhelpers;       /* inside the call now */
    vczi_cond_t left;   /* the last helper has gone */
    int64_t failed_job; /* the lowest, or INT64_MAX */
    int code;
    vczi_detail_t detail;
};

static struct {
    vczi_mutex_t mutex;
    vczi_cond_t wake;    /* a call wants helpers */
    call_t *first;       /* open calls, the newest first */
    vczi_atomic_t nbusy; /* threads inside calls, callers and helpers; changed under the mutex */
    int nidle;           /* workers outside calls, those just started among them */
    worker_t *workers;   /* but for those just started */
    worker_t *lost;      /* of the parent: their memory alone is here */
    uint64_t generation; /* one more in each forked child */
} pool = {VCZI_MUTEX_INIT, VCZI_COND_INIT, NULL, {0}, 0, NULL, NULL, 0};

static vczi_once_t pool_once = VCZI_ONCE_INIT;
static vczi_atomic_t pool_nset;     /* as vczi_pool_set_threads says; 0: the default */
static vczi_atomic_t pool_ndefault; /* 0: not yet known */

/* Set while the thread runs jobs beside others, or is to use one thread only: runs inside them run alone. */
static VCZI_THREAD_LOCAL bool pool_is_inside;

static void lock_for_fork(void) {
    vczi_mutex_lock(&pool.mutex);
}

static void unlock_after_fork(void) {
    vczi_mutex_unlock(&pool.mutex);
}

/* Put all of `workers` before those of `list`. */
static void add_workers(worker_t **list, worker_t *workers) {
    worker_t **end = &workers;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = *list;
    *list = workers;
}

/* Only the thread that forked is left. Its own call, if it is in one, sees the new generation when it ends. Memory is
 * not given back here: the allocator may not work yet. */
static void restart_after_fork(void) {
    vczi_cond_init(&pool.wake); /* not destroyed: it may still count waiters, who are gone */
    pool.first = NULL;
    vczi_atomic_store(&pool.nbusy, 0);
    pool.nidle = 0;
    add_workers(&pool.lost, pool.workers);
    pool.workers = NULL;
    pool.generation++;
    vczi_mutex_unlock(&pool.mutex);
}

static void prepare_once(void) {
    vczi_thread_at_fork(lock_for_fork, unlock_after_fork, restart_after_fork);
}

/* A positive decimal number; 0 where `text` is anything else. */
static int parse_threads(const char *text) {
    int number = 0;
    if (text == NULL || text[0] == '\0') {
        return 0;
    }
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') {
            return 0;
        }
        number = number * 10 + (*text - '0');
        number = number > MAX_THREADS ? MAX_THREADS : number;
    }
    return number;
}

int vczi_pool_threads(void) {
    int64_t nthreads = vczi_atomic_peek(&pool_nset);
    if (nthreads == 0) {
        nthreads = vczi_atomic_peek(&pool_ndefault);
    }
    if (nthreads == 0) { /* several threads may find it out at once; they agree */
        const int nwanted = parse_threads(getenv("VCZC_NUM_THREADS"));
        nthreads = nwanted != 0 ? nwanted : vczi_thread_processors();
        vczi_atomic_store(&pool_ndefault, nthreads);
    }
    return (int) nthreads;
}

void vczi_pool_set_threads(int nthreads) {
    vczi_atomic_store(&pool_nset, nthreads < 0 ? 0 : nthreads > MAX_THREADS ? MAX_THREADS : nthreads);
    if (nthreads == 0) {
        vczi_atomic_store(&pool_ndefault, 0); /* the processors allowed may have changed since */
    }
}

/* One after the other, by the caller. */
static int run_alone(int64_t njobs, vczi_job_fn function, void *user) {
    for (int64_t job = 0; job < njobs; job++) {
        const int ret = function(user, job);
        if (ret != 0) {
            return ret;
        }
    }
    return 0;
}

static bool has_jobs(const call_t *call) {
    return vczi_atomic_peek(&call->next_job) < call->njobs;
}

/* How many more threads may help `call`. Callers count too: where many are running, each runs alone. */
static int count_wanted(const call_t *call) {
    const int64_t njobs_left = call->njobs - vczi_atomic_peek(&call->next_job);
    const int64_t nfree = call->nthreads - vczi_atomic_peek(&pool.nbusy);
    int64_t wanted = call->nthreads - 1 - call->nhelpers;
    wanted = nfree < wanted ? nfree : wanted;
    wanted = njobs_left < wanted ? njobs_left : wanted;
    return wanted > 0 ? (int) wanted : 0;
}

/* The open call that most needs help, or NULL. */
static call_t *find_call(void) {
    call_t *best = NULL;
    for (call_t *call = pool.first; call != NULL; call = call->next) {
        if (count_wanted(call) > 0 && (best == NULL || call->nhelpers < best->nhelpers)) {
            best = call;
        }
    }
    return best;
}

static void keep_failure(call_t *call, int64_t job, int code) {
    vczi_atomic_store(&call->next_job, call->njobs); /* no further job begins */
    vczi_mutex_lock(&pool.mutex);
    if (job < call->failed_job) {
        call->failed_job = job;
        call->code = code;
        vczi_detail_save(&call->detail);
    }
    vczi_mutex_unlock(&pool.mutex);
}

/* Take jobs until none is left; as a helper, until other calls have more right to the thread. The counter passes njobs
 * by one for each thread, and never comes near its end. `generation` only changes in a child that this thread has
 * forked: there the others are gone, and with them maybe the stack that `call` lies on. */
static void take_jobs(call_t *call, uint64_t generation, bool is_helper) {
    const bool was_inside = pool_is_inside;
    pool_is_inside = true;
    while (has_jobs(call) && !(is_helper && vczi_atomic_peek(&pool.nbusy) > call->nthreads)) {
        const int64_t job = vczi_atomic_add(&call->next_job, 1);
        if (job >= call->njobs) {
            break;
        }
        const int code = call->function(call->user, job);
        if (pool.generation != generation) {
            break;
        }
        if (code != 0) {
            keep_failure(call, job, code);
        }
    }
    pool_is_inside = was_inside;
}

/* A worker's whole life. */
static void work(void *user) {
    worker_t *self = user;
    vczi_mutex_lock(&pool.mutex);
    const uint64_t generation = pool.generation;
    while (!self->leaves) {
        call_t *call = find_call();
        if (call == NULL) {
            vczi_cond_wait(&pool.wake, &pool.mutex);
            continue;
        }
        pool.nidle--;
        self->is_busy = true;
        (void) vczi_atomic_add(&pool.nbusy, 1);
        call->nhelpers++;
        vczi_mutex_unlock(&pool.mutex);
        take_jobs(call, generation, true);
        vczi_mutex_lock(&pool.mutex);
        if (pool.generation != generation) { /* in a child: `self` may be gone as well */
            break;
        }
        call->nhelpers--;
        (void) vczi_atomic_add(&pool.nbusy, -1);
        self->is_busy = false;
        pool.nidle++;
        if (call->nhelpers == 0) {
            vczi_cond_signal(&call->left); /* with the mutex held: afterwards `call` may be gone */
        }
    }
    vczi_mutex_unlock(&pool.mutex);
}

/* NULL where there is no memory or no thread to be had. */
static worker_t *start_worker(void) {
    worker_t *worker = vczi_alloc_zeroed(1, sizeof(*worker));
    if (worker != NULL && vczi_thread_start(&worker->thread, work, worker) != 0) {
        vczi_free(worker);
        worker = NULL;
    }
    return worker;
}

/* Start `nwanted` workers, which are counted as idle already; those that could not be started are counted out. */
static void start_workers(int nwanted) {
    vczi_detail_t before;
    worker_t *started = NULL;
    int nstarted = 0;
    if (nwanted <= 0) {
        return;
    }
    vczi_detail_save(&before);
    for (; nstarted < nwanted; nstarted++) {
        worker_t *worker = start_worker();
        if (worker == NULL) {
            vczi_detail_restore(&before); /* no failure of the call's: it runs with fewer threads */
            break;
        }
        worker->next = started;
        started = worker;
    }
    vczi_mutex_lock(&pool.mutex);
    add_workers(&pool.workers, started);
    pool.nidle -= nwanted - nstarted;
    vczi_mutex_unlock(&pool.mutex);
}

/* Give the mutex back, and have `nwanted` idle or new workers look at the calls. Both are done outside the mutex:
 * who is woken needs it, and starting a thread takes its time. */
static void unlock_and_summon(int nwanted) {
    const int nwoken = nwanted < pool.nidle ? nwanted : pool.nidle;
    pool.nidle += nwanted - nwoken;
    vczi_mutex_unlock(&pool.mutex);
    for (int i = 0; i < nwoken; i++) {
        vczi_cond_signal(&pool.wake);
    }
    start_workers(nwanted - nwoken);
}

static void open_call(call_t *call) {
    vczi_mutex_lock(&pool.mutex);
    call->generation = pool.generation;
    call->next = pool.first;
    if (pool.first != NULL) {
        pool.first->previous = call;
    }
    pool.first = call;
    (void) vczi_atomic_add(&pool.nbusy, 1);
    const int wanted = count_wanted(call);
    unlock_and_summon(wanted < call->njobs ? wanted : (int) (call->njobs - 1)); /* the caller does one itself */
}

/* Take the call off the list, so that nobody joins any more, and wait for those who are in it. */
static void close_call(call_t *call) {
    vczi_mutex_lock(&pool.mutex);
    if (pool.generation != call->generation) { /* a job forked: what helpers had begun will never end in this child */
        vczi_mutex_unlock(&pool.mutex);
        call->code = vczi_fail(VCZC_ERR_INTERNAL, "the process was forked by a job that other threads helped with");
        vczi_detail_save(&call->detail);
        return;
    }
    if (call->previous != NULL) {
        call->previous->next = call->next;
    } else {
        pool.first = call->next;
    }
    if (call->next != NULL) {
        call->next->previous = call->previous;
    }
    (void) vczi_atomic_add(&pool.nbusy, -1);
    while (call->nhelpers != 0) {
        vczi_cond_wait(&call->left, &pool.mutex);
    }
    /* This thread is free now: another call may have gone without help for its sake. */
    unlock_and_summon(find_call() != NULL ? 1 : 0);
}

static int run_shared(int64_t njobs, int nthreads, vczi_job_fn function, void *user) {
    call_t call = {.function = function, .user = user, .njobs = njobs, .nthreads = nthreads};
    call.failed_job = INT64_MAX;
    vczi_cond_init(&call.left);
    vczi_once(&pool_once, prepare_once);
    open_call(&call);
    take_jobs(&call, call.generation, false);
    close_call(&call);
    vczi_cond_destroy(&call.left);
    if (call.code != 0) {
        vczi_detail_restore(&call.detail);
    }
    return call.code;
}

int vczi_pool_run(int64_t njobs, int nthreads, vczi_job_fn function, void *user) {
    if (njobs <= 1 || pool_is_inside) {
        return run_alone(njobs, function, user);
    }
    nthreads = nthreads <= 0 ? vczi_pool_threads() : nthreads > MAX_THREADS ? MAX_THREADS : nthreads;
    if (nthreads > 1) {
        return run_shared(njobs, nthreads, function, user);
    }
    pool_is_inside = true;
    const int ret = run_alone(njobs, function, user);
    pool_is_inside = false;
    return ret;
}

/* Take the idle workers out of the list, and tell them to end. Those of a call under way stay. */
static worker_t *dismiss_idle(void) {
    worker_t *dismissed = NULL;
    worker_t **place = &pool.workers;
    while (*place != NULL) {
        worker_t *worker = *place;
        if (worker->is_busy) {
            place = &worker->next;
            continue;
        }
        *place = worker->next;
        worker->leaves = true;
        worker->next = dismissed;
        dismissed = worker;
        pool.nidle--;
    }
    vczi_cond_broadcast(&pool.wake);
    return dismissed;
}

void vczi_pool_trim(void) {
    vczi_once(&pool_once, prepare_once);
    vczi_mutex_lock(&pool.mutex);
    worker_t *dismissed = dismiss_idle();
    worker_t *lost = pool.lost;
    pool.lost = NULL;
    vczi_mutex_unlock(&pool.mutex);
    for (worker_t *worker = dismissed; worker != NULL; worker = worker->next) {
        vczi_thread_join(&worker->thread);
    }
    add_workers(&lost, dismissed);
    while (lost != NULL) {
        worker_t *worker = lost;
        lost = worker->next;
        vczi_free(worker);
    }
}
