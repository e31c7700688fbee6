/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Checks for the C tests. A test is a `static void name(void)`; a program ends with
 *
 *     int main(void) {
 *         RUN(name);
 *         RUN(other);
 *         return check_result();
 *     }
 *
 * A failed check prints its place and the test goes on; REQUIRE leaves the test. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int check_nfailed;      /* of the program */
static int check_ntests;       /* that were run */
static const char *check_test; /* the one that runs */

static inline bool check_failed(const char *file, int line, const char *what) {
    check_nfailed++;
    fprintf(stderr, "%s:%d: %s: failed: %s\n", file, line, check_test, what);
    return false;
}

static inline bool check_int(const char *file, int line, const char *what, intmax_t got, intmax_t expected) {
    if (got == expected) return true;
    check_failed(file, line, what);
    fprintf(stderr, "    got %" PRIdMAX ", expected %" PRIdMAX "\n", got, expected);
    return false;
}

static inline bool check_str(const char *file, int line, const char *what, const char *got, const char *expected) {
    if (got != NULL && expected != NULL && strcmp(got, expected) == 0) return true;
    check_failed(file, line, what);
    fprintf(stderr, "    got \"%s\", expected \"%s\"\n", got ? got : "(NULL)", expected ? expected : "(NULL)");
    return false;
}

static inline bool check_mem(const char *file, int line, const char *what, const void *got, const void *expected,
                             size_t nbytes) {
    const uint8_t *a = got, *b = expected;
    for (size_t i = 0; i < nbytes; i++) {
        if (a[i] == b[i]) continue;
        check_failed(file, line, what);
        fprintf(stderr, "    byte %zu of %zu: got 0x%02x, expected 0x%02x\n", i, nbytes, a[i], b[i]);
        return false;
    }
    return true;
}

/* Each gives whether it held, so that a loop can stop at its first failure. */
#define CHECK(condition) ((condition) ? true : check_failed(__FILE__, __LINE__, #condition))
#define CHECK_EQ(got, expected)                                                                                        \
    check_int(__FILE__, __LINE__, #got " == " #expected, (intmax_t) (got), (intmax_t) (expected))
#define CHECK_STR(got, expected) check_str(__FILE__, __LINE__, #got " is " #expected, got, expected)
#define CHECK_MEM(got, expected, nbytes) check_mem(__FILE__, __LINE__, #got " is " #expected, got, expected, nbytes)

/* The only one that leaves the test: for what the rest of it stands on. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!CHECK(condition)) return;                                                                                 \
    } while (0)

#define RUN(test)                                                                                                      \
    do {                                                                                                               \
        check_test = #test;                                                                                            \
        check_ntests++;                                                                                                \
        test();                                                                                                        \
    } while (0)

/* What main returns. */
static inline int check_result(void) {
    printf("%d tests, %d failed checks\n", check_ntests, check_nfailed);
    return check_nfailed == 0 ? 0 : 1;
}

#endif
