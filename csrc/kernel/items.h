/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Alleles and dosages as items of a NumPy-like array: any type, any strides, any alignment. */
#ifndef VCZI_ITEMS_H
#define VCZI_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls in memory: their alleles are of type VCZC_INT8 to VCZC_UINT64. */
typedef struct {
    int dtype;
    int64_t call_stride, allele_stride; /* bytes */
    size_t ploidy;
} vczi_call_items_t;

/* 0 where alleles cannot be of that type. */
size_t vczi_items_allele_nbytes(int dtype);

/* The alleles of `ncalls` calls, one behind the other: as bytes, where what is above 127 becomes 127, and what is below
 * -2 stays a negative number that is not -2; and as they are, but for what is above INT64_MAX. */
void vczi_items_get_i8(const vczi_call_items_t *items, const char *from, size_t ncalls, uint8_t *alleles);
void vczi_items_get_i64(const vczi_call_items_t *items, const char *from, size_t ncalls, int64_t *alleles);

/* Dosages as items of type VCZC_INT8 to VCZC_INT64, VCZC_FLOAT32 or VCZC_FLOAT64 that lie `stride` bytes apart; -1 is
 * NaN as a float. */
void vczi_items_put_i8(const int8_t *numbers, size_t n, int dtype, char *out, int64_t stride);
void vczi_items_put_i32(const int32_t *numbers, size_t n, int dtype, char *out, int64_t stride);

#endif
