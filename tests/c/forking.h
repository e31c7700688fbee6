/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Children of a test. */
#ifndef FORKING_H
#define FORKING_H

#include <stdio.h>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

/* gcc's thread sanitizer cannot follow threads that a child starts after a fork among threads; clang's can, if asked.
 */
#if defined(__SANITIZE_THREAD__)
#define CAN_FORK_AMONG_THREADS 0
#else
#define CAN_FORK_AMONG_THREADS 1
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "die_after_fork=0";
}
#endif
#endif

/* The address sanitizer's allocator does not work in a child that was forked while another thread was in it. */
#define CAN_FORK_AMONG_ALLOCATIONS CAN_FORK_AMONG_THREADS
#if defined(__SANITIZE_ADDRESS__)
#undef CAN_FORK_AMONG_ALLOCATIONS
#define CAN_FORK_AMONG_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef CAN_FORK_AMONG_ALLOCATIONS
#define CAN_FORK_AMONG_ALLOCATIONS 0
#endif
#endif

#ifndef _WIN32
/* The status of a child that ends with what `function` gives; -1 where it did not end by itself. */
static inline int in_child(int (*function)(const char *), const char *argument) {
    int status = -1;
    (void) fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void) alarm(60); /* a hang is a failure */
        _exit(function(argument));
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return -status;
    }
    return WEXITSTATUS(status);
}
#endif

#endif
