/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Threads as the two systems have them: mutex, condition, once, start and join, processors allowed, fork hook. */
#ifndef VCZI_THREAD_H
#define VCZI_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
typedef SRWLOCK vczi_mutex_t;
typedef CONDITION_VARIABLE vczi_cond_t;
typedef HANDLE vczi_thread_handle_t;
typedef INIT_ONCE vczi_once_t;
#define VCZI_MUTEX_INIT SRWLOCK_INIT
#define VCZI_COND_INIT CONDITION_VARIABLE_INIT
#define VCZI_ONCE_INIT INIT_ONCE_STATIC_INIT
#else
#include <pthread.h>
typedef pthread_mutex_t vczi_mutex_t;
typedef pthread_cond_t vczi_cond_t;
typedef pthread_t vczi_thread_handle_t;
typedef pthread_once_t vczi_once_t;
#define VCZI_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define VCZI_COND_INIT PTHREAD_COND_INITIALIZER
#define VCZI_ONCE_INIT PTHREAD_ONCE_INIT
#endif

void vczi_mutex_init(vczi_mutex_t *mutex);
void vczi_mutex_destroy(vczi_mutex_t *mutex);
void vczi_mutex_lock(vczi_mutex_t *mutex);
void vczi_mutex_unlock(vczi_mutex_t *mutex);
void vczi_cond_init(vczi_cond_t *cond);
void vczi_cond_destroy(vczi_cond_t *cond);
void vczi_cond_wait(vczi_cond_t *cond, vczi_mutex_t *mutex);
void vczi_cond_signal(vczi_cond_t *cond);
void vczi_cond_broadcast(vczi_cond_t *cond);
void vczi_once(vczi_once_t *once, void (*function)(void));

/* A thread from its start to its join, and no longer than that; it stays where it is. */
typedef struct {
    vczi_thread_handle_t handle;
    void (*function)(void *user);
    void *user;
} vczi_thread_t;

/* Start a thread that runs function(user), with all signals blocked. 0 or VCZC_ERR_NO_MEMORY. */
int vczi_thread_start(vczi_thread_t *thread, void (*function)(void *user), void *user);
void vczi_thread_join(const vczi_thread_t *thread);

/* Processors that the process may run on: affinity and, on Linux, the cgroup's limit (rounded up). At least 1. */
int vczi_thread_processors(void);

/* Call `prepare` before and `parent` / `child` after every fork of the process; any may be NULL. Nothing where there
 * is no fork. */
void vczi_thread_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

/* What is to be called when threads end: `function`, with the value that the thread has set last, unless that is NULL.
 * A thread that has set none is not concerned. */
int vczi_thread_exit_open(uintptr_t *slot, void (*function)(void *value));
void vczi_thread_exit_set(uintptr_t slot, void *value);

/* Nothing is called any more; but where the system wants it so, at once for each thread that has set a value. No thread
 * may be setting one. */
void vczi_thread_exit_close(uintptr_t slot);

#endif
