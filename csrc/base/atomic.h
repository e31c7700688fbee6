/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A 64-bit number that threads share: counters, reference counts, values computed once. All operations are
 * sequentially consistent but vczi_atomic_peek, which orders nothing. Zeroed memory is 0. */
#ifndef VCZI_ATOMIC_H
#define VCZI_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
/* <stdatomic.h> came late to this compiler and needs a flag; these have always been there. */
#include <intrin.h>

typedef struct {
    volatile __int64 value;
} vczi_atomic_t;

static inline int64_t vczi_atomic_load(const vczi_atomic_t *self) {
    return _InterlockedCompareExchange64((volatile __int64 *) &self->value, 0, 0);
}

static inline int64_t vczi_atomic_peek(const vczi_atomic_t *self) {
    return self->value; /* aligned, and the processors of Windows on 64 bits do not tear it */
}

static inline void vczi_atomic_store(vczi_atomic_t *self, int64_t value) {
    (void) _InterlockedExchange64(&self->value, value);
}

/* Add `value` (which may be negative); returns what was there before. */
static inline int64_t vczi_atomic_add(vczi_atomic_t *self, int64_t value) {
    return _InterlockedExchangeAdd64(&self->value, value);
}

/* Put `value` there; returns what was there before. */
static inline int64_t vczi_atomic_exchange(vczi_atomic_t *self, int64_t value) {
    return _InterlockedExchange64(&self->value, value);
}

/* Put `value` there if it is 0; false where it is not. */
static inline bool vczi_atomic_fill(vczi_atomic_t *self, int64_t value) {
    return _InterlockedCompareExchange64(&self->value, value, 0) == 0;
}
#else
#include <stdatomic.h>

typedef struct {
    _Atomic(int64_t) value;
} vczi_atomic_t;

static inline int64_t vczi_atomic_load(const vczi_atomic_t *self) {
    return atomic_load(&self->value);
}

static inline int64_t vczi_atomic_peek(const vczi_atomic_t *self) {
    return atomic_load_explicit(&self->value, memory_order_relaxed);
}

static inline void vczi_atomic_store(vczi_atomic_t *self, int64_t value) {
    atomic_store(&self->value, value);
}

/* Add `value` (which may be negative); returns what was there before. */
static inline int64_t vczi_atomic_add(vczi_atomic_t *self, int64_t value) {
    return atomic_fetch_add(&self->value, value);
}

/* Put `value` there; returns what was there before. */
static inline int64_t vczi_atomic_exchange(vczi_atomic_t *self, int64_t value) {
    return atomic_exchange(&self->value, value);
}

/* Put `value` there if it is 0; false where it is not. */
static inline bool vczi_atomic_fill(vczi_atomic_t *self, int64_t value) {
    int64_t empty = 0;
    return atomic_compare_exchange_strong(&self->value, &empty, value);
}
#endif

#endif
