/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Threads as POSIX systems have them. How many processors Linux lets a process use: sched(7), and "cpu.max" in
 * Documentation/admin-guide/cgroup-v2.rst, "cpu.cfs_quota_us" in scheduler/sched-bwc.rst of the kernel. */
#ifndef _WIN32

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif

#include "thread.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "status.h"

/* Decoders keep up to 256 KB on the stack; some systems give a thread only 512 KB. */
#define STACK_NBYTES ((size_t) 1 << 20)

void vczi_mutex_init(vczi_mutex_t *mutex) {
    (void) pthread_mutex_init(mutex, NULL);
}

void vczi_mutex_destroy(vczi_mutex_t *mutex) {
    (void) pthread_mutex_destroy(mutex);
}

void vczi_mutex_lock(vczi_mutex_t *mutex) {
    (void) pthread_mutex_lock(mutex);
}

void vczi_mutex_unlock(vczi_mutex_t *mutex) {
    (void) pthread_mutex_unlock(mutex);
}

void vczi_cond_init(vczi_cond_t *cond) {
    (void) pthread_cond_init(cond, NULL);
}

void vczi_cond_destroy(vczi_cond_t *cond) {
    (void) pthread_cond_destroy(cond);
}

void vczi_cond_wait(vczi_cond_t *cond, vczi_mutex_t *mutex) {
    (void) pthread_cond_wait(cond, mutex);
}

void vczi_cond_signal(vczi_cond_t *cond) {
    (void) pthread_cond_signal(cond);
}

void vczi_cond_broadcast(vczi_cond_t *cond) {
    (void) pthread_cond_broadcast(cond);
}

void vczi_once(vczi_once_t *once, void (*function)(void)) {
    (void) pthread_once(once, function);
}

static void *run_thread(void *argument) {
    const vczi_thread_t *thread = argument; /* but for its handle, which may not be written yet */
    thread->function(thread->user);
    return NULL;
}

/* A signal that the program handles must not interrupt a thread that it does not know of; a new thread inherits
 * the mask of the one that starts it. */
static int create_without_signals(vczi_thread_t *thread, const pthread_attr_t *attributes) {
    sigset_t all, before;
    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread->handle, attributes, run_thread, thread);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int vczi_thread_start(vczi_thread_t *thread, void (*function)(void *user), void *user) {
    pthread_attr_t attributes;
    thread->function = function;
    thread->user = user;
    int error = pthread_attr_init(&attributes);
    if (error == 0) {
        (void) pthread_attr_setstacksize(&attributes, STACK_NBYTES); /* where it is refused, the default serves */
        error = create_without_signals(thread, &attributes);
        (void) pthread_attr_destroy(&attributes);
    }
    return error == 0 ? 0 : vczi_fail_errno(VCZC_ERR_NO_MEMORY, error, "cannot start a thread");
}

void vczi_thread_join(const vczi_thread_t *thread) {
    (void) pthread_join(thread->handle, NULL);
}

#ifdef __linux__
/* The processors of the affinity mask; 0 where it is not known. */
static int count_affinity(void) {
    int nbits = 1024; /* the kernel refuses a mask that is too small for its processors */
    int nprocessors = 0;
    for (; nprocessors == 0 && nbits <= 1 << 20; nbits *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t) nbits);
        if (set == NULL) {
            return 0;
        }
        const size_t nbytes = CPU_ALLOC_SIZE((size_t) nbits);
        if (sched_getaffinity(0, nbytes, set) == 0) {
            nprocessors = CPU_COUNT_S(nbytes, set);
        }
        CPU_FREE(set);
    }
    return nprocessors;
}

/* Two numbers of a file of `folder`; false where there is none, or it says "max". */
static bool read_numbers(const char *folder, const char *name, long long *first, long long *second) {
    char path[PATH_MAX];
    const int nbytes = snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (nbytes < 0 || (size_t) nbytes >= sizeof(path)) {
        return false;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    char line[64] = "";
    const bool is_read = fgets(line, sizeof(line), file) != NULL;
    (void) fclose(file);
    if (!is_read) {
        return false;
    }
    char *end = NULL;
    *first = strtoll(line, &end, 10);
    if (end == line) {
        return false;
    }
    char *start = end;
    const long long number = strtoll(start, &end, 10);
    if (end != start) {
        *second = number; /* else as the caller has it */
    }
    return true;
}

/* The limit of one control group, rounded up to whole processors; INT_MAX where it sets none. */
static int group_limit(const char *folder) {
    long long quota = -1, period = 100000, unused = 0;
    if (!read_numbers(folder, "cpu.max", &quota, &period)) {
        if (!read_numbers(folder, "cpu.cfs_quota_us", &quota, &unused) ||
            !read_numbers(folder, "cpu.cfs_period_us", &period, &unused)) {
            return INT_MAX;
        }
    }
    if (quota <= 0 || period <= 0) {
        return INT_MAX;
    }
    const long long nprocessors = quota / period + (quota % period != 0);
    return nprocessors > INT_MAX ? INT_MAX : (int) nprocessors;
}

/* The least limit of the group at `mount` + `path` and all above it. In a container the path may be the host's and
 * not be there: then the loop still ends at what is mounted. */
static int branch_limit(const char *mount, const char *path) {
    char folder[PATH_MAX];
    const size_t mount_nbytes = strlen(mount);
    const int nbytes = snprintf(folder, sizeof(folder), "%s%s", mount, path);
    if (nbytes < 0 || (size_t) nbytes >= sizeof(folder)) {
        return group_limit(mount);
    }
    int least = INT_MAX;
    for (;;) {
        const int limit = group_limit(folder);
        least = limit < least ? limit : least;
        char *slash = strrchr(folder + mount_nbytes, '/');
        if (slash == NULL) {
            return least;
        }
        *slash = '\0';
    }
}

/* True where `word` is one of the comma-separated `list`. */
static bool list_has(const char *list, const char *word) {
    const size_t nbytes = strlen(word);
    for (const char *at = list;; at++) {
        if (strncmp(at, word, nbytes) == 0 && (at[nbytes] == ',' || at[nbytes] == '\0')) {
            return true;
        }
        at = strchr(at, ',');
        if (at == NULL) {
            return false;
        }
    }
}

/* The process's own line of each hierarchy is `number:controllers:path`, without controllers in version 2. */
static int cgroup_limit(void) {
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL) {
        return INT_MAX;
    }
    char line[PATH_MAX];
    int least = INT_MAX;
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (path == NULL) {
            continue;
        }
        *path++ = '\0';
        controllers++;
        int limit = INT_MAX;
        if (controllers[0] == '\0') {
            limit = branch_limit("/sys/fs/cgroup", path);
        } else if (list_has(controllers, "cpu")) {
            limit = branch_limit("/sys/fs/cgroup/cpu", path); /* also where cpu and cpuacct are mounted as one */
        }
        least = limit < least ? limit : least;
    }
    (void) fclose(file);
    return least;
}
#else
static int count_affinity(void) {
    return 0;
}

static int cgroup_limit(void) {
    return INT_MAX;
}
#endif

int vczi_thread_processors(void) {
    int nprocessors = count_affinity();
    if (nprocessors <= 0) {
        const long nonline = sysconf(_SC_NPROCESSORS_ONLN);
        nprocessors = nonline < 1 ? 1 : nonline > INT_MAX ? INT_MAX : (int) nonline;
    }
    const int limit = cgroup_limit();
    return limit < nprocessors ? limit : nprocessors;
}

void vczi_thread_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
    (void) pthread_atfork(prepare, parent, child);
}

int vczi_thread_exit_open(uintptr_t *slot, void (*function)(void *value)) {
    pthread_key_t key;
    *slot = 0;
    const int error = pthread_key_create(&key, function);
    if (error != 0) {
        return vczi_fail_errno(VCZC_ERR_NO_MEMORY, error, "cannot make a place for a thread's own data");
    }
    *slot = (uintptr_t) key;
    return 0;
}

void vczi_thread_exit_set(uintptr_t slot, void *value) {
    (void) pthread_setspecific((pthread_key_t) slot, value);
}

void vczi_thread_exit_close(uintptr_t slot) {
    (void) pthread_key_delete((pthread_key_t) slot);
}

#else
typedef int vczi_thread_posix_unused; /* C forbids an empty file */
#endif
