/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The process's one pool of decoding threads: jobs by number, started at first use, started again after fork. It
 * knows nothing of arrays. */
#ifndef VCZI_POOL_H
#define VCZI_POOL_H

#include <stdint.h>

/* Do job `job`; 0 or a status code. Several threads call it at once, each with another job. */
typedef int (*vczi_job_fn)(void *user, int64_t job);

/* Run jobs 0 … njobs - 1 with at most `nthreads` threads (0: vczi_pool_threads()), the caller among them, and wait.
 * With one job or one thread nothing is started or locked: the caller does them in order. Threads that help are
 * counted over the whole process: where as many calls are running as there are threads allowed, each runs alone.
 * After a failure jobs that have not begun are left out. Returns the failure of the lowest job that failed, with its
 * detail; which jobs ran beyond it is not promised. May be called inside a job: it then runs alone,
 * unless that job is the only one of its run. */
int vczi_pool_run(int64_t njobs, int nthreads, vczi_job_fn function, void *user);

/* The number of threads of one call: as set, else VCZC_NUM_THREADS, else vczi_thread_processors(). */
int vczi_pool_threads(void);

/* 0 goes back to the default. */
void vczi_pool_set_threads(int nthreads);

/* End and join the threads that help no call at the moment, and give back their memory. They start again when they are
 * wanted. May be called inside a job. */
void vczi_pool_trim(void);

#endif
