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
typedef HANDLE vczi_thread_t;
typedef INIT_ONCE vczi_once_t;
#define VCZI_MUTEX_INIT SRWLOCK_INIT
#define VCZI_COND_INIT CONDITION_VARIABLE_INIT
#define VCZI_ONCE_INIT INIT_ONCE_STATIC_INIT
#else
#include <pthread.h>
typedef pthread_mutex_t vczi_mutex_t;
typedef pthread_cond_t vczi_cond_t;
typedef pthread_t vczi_thread_t;
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

/* Start a thread that runs function(user), with all signals blocked. 0 or VCZC_ERR_NO_MEMORY. */
int vczi_thread_start(vczi_thread_t *thread, void (*function)(void *), void *user);
void vczi_thread_join(vczi_thread_t thread);
void vczi_thread_detach(vczi_thread_t thread);

/* Processors that the process may run on: affinity and, on Linux, the cgroup's limit (rounded up). At least 1. */
int vczi_thread_processors(void);

/* Call `prepare` before and `parent` / `child` after every fork of the process; any may be NULL. Nothing where there
 * is no fork. */
void vczi_thread_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

/* Call `function(value)` when the calling thread ends. One key for each `slot` made by vczi_thread_exit_slot. */
int vczi_thread_exit_slot(uintptr_t *slot, void (*function)(void *value));
void vczi_thread_exit_set(uintptr_t slot, void *value);
void *vczi_thread_exit_get(uintptr_t slot);

#endif
