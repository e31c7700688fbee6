/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Memory for large results: recycled within its bound, also across forks and threads. */
#include <stdlib.h>

#include "check.h"
#include "pages.h"
#include "thread.h"

/* The thread sanitizer does not run in the child of a process that has threads. */
#if !defined(_WIN32) && !defined(__SANITIZE_THREAD__)
#define HAS_FORK 1
#else
#define HAS_FORK 0
#endif

#if HAS_FORK
#include <sys/wait.h>
#include <unistd.h>
#endif

#define MB ((size_t) 1 << 20)

static void test_recycled(void) {
    vczi_pages_set_kept(8 * MB);
    uint8_t *first = vczi_pages_alloc(3 * MB);
    REQUIRE(first != NULL);
    memset(first, 1, 3 * MB);
    vczi_pages_free(first, 3 * MB);
    CHECK_EQ(vczi_pages_kept(), 4 * MB); /* rounded up */
    uint8_t *second = vczi_pages_alloc(4 * MB);
    CHECK(second == first);
    CHECK_EQ(vczi_pages_kept(), 0);
    memset(second, 2, 4 * MB);
    vczi_pages_free(second, 4 * MB);
    vczi_pages_set_kept(0);
    CHECK_EQ(vczi_pages_kept(), 0);
}

static void test_bound(void) {
    void *all[40];
    vczi_pages_set_kept(6 * MB);
    for (size_t i = 0; i < 40; i++) {
        all[i] = vczi_pages_alloc(2 * MB);
        REQUIRE(all[i] != NULL);
        *(char *) all[i] = 1;
    }
    for (size_t i = 0; i < 40; i++) {
        vczi_pages_free(all[i], 2 * MB);
        CHECK(vczi_pages_kept() <= 6 * MB);
    }
    CHECK_EQ(vczi_pages_kept(), 6 * MB);
    void *larger = vczi_pages_alloc(7 * MB);
    REQUIRE(larger != NULL);
    vczi_pages_free(larger, 7 * MB); /* above the bound: not kept */
    CHECK_EQ(vczi_pages_kept(), 6 * MB);
    vczi_pages_set_kept(0);
    void *none = vczi_pages_alloc(MB);
    vczi_pages_free(none, MB);
    CHECK_EQ(vczi_pages_kept(), 0);
    vczi_pages_free(NULL, MB);
}

static void test_no_memory(void) {
    CHECK(vczi_pages_alloc(SIZE_MAX) == NULL);
    CHECK(vczi_pages_alloc(SIZE_MAX - 8 * MB) == NULL);
    void *empty = vczi_pages_alloc(0);
    CHECK(empty != NULL);
    vczi_pages_free(empty, 0);
}

static void use_pages(void *user) {
    const unsigned char value = *(const unsigned char *) user;
    for (int round = 0; round < 200; round++) {
        const size_t nbytes = (1 + (size_t) (round % 3)) * 2 * MB;
        unsigned char *pages = vczi_pages_alloc(nbytes);
        if (pages == NULL) abort();
        pages[0] = value;
        pages[nbytes - 1] = value;
        if (pages[0] != value || pages[nbytes - 1] != value) abort(); /* somebody else has them too */
        vczi_pages_free(pages, nbytes);
    }
}

static void test_threads(void) {
    vczi_thread_t threads[4];
    unsigned char values[4] = {1, 2, 3, 4};
    vczi_pages_set_kept(16 * MB);
    for (int i = 0; i < 4; i++) {
        REQUIRE(CHECK_EQ(vczi_thread_start(&threads[i], use_pages, &values[i]), 0));
    }
    for (int i = 0; i < 4; i++) {
        vczi_thread_join(&threads[i]);
    }
    CHECK(vczi_pages_kept() <= 16 * MB);
    vczi_pages_set_kept(0);
}

#if HAS_FORK
/* Children of a process whose other thread is inside all the time: none may find the lock held. */
static void test_forks(void) {
    vczi_thread_t thread;
    unsigned char value = 9;
    vczi_pages_set_kept(16 * MB);
    REQUIRE(CHECK_EQ(vczi_thread_start(&thread, use_pages, &value), 0));
    for (int i = 0; i < 20; i++) {
        const pid_t child = fork();
        if (child == 0) {
            unsigned char mine = 7;
            alarm(20); /* a hang is a failure */
            use_pages(&mine);
            _exit(0);
        }
        int status = -1;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
    vczi_thread_join(&thread);
    vczi_pages_set_kept(0);
}
#endif

int main(void) {
    RUN(test_recycled);
    RUN(test_bound);
    RUN(test_no_memory);
    RUN(test_threads);
#if HAS_FORK
    RUN(test_forks);
#endif
    return check_result();
}
