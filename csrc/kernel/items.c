/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* One function for each type, of one pattern. Items are copied to and from variables: they may lie anywhere. */
#include "items.h"

#include <math.h>
#include <string.h>

#include "vczc.h"

size_t vczi_items_allele_nbytes(int dtype) {
    switch (dtype) {
        case VCZC_INT8:
        case VCZC_UINT8:
            return 1;
        case VCZC_INT16:
        case VCZC_UINT16:
            return 2;
        case VCZC_INT32:
        case VCZC_UINT32:
            return 4;
        case VCZC_INT64:
        case VCZC_UINT64:
            return 8;
        default:
            return 0;
    }
}

/* ---- Alleles ---- */

#define AS_BYTE(v) ((uint8_t) (v))
#define AS_BYTE_SIGNED(v) ((uint8_t) ((v) > INT8_MAX ? INT8_MAX : (v) < -2 ? -1 : (v)))
#define AS_BYTE_UNSIGNED(v) ((uint8_t) ((v) > INT8_MAX ? INT8_MAX : (v)))
#define AS_INT64(v) ((int64_t) (v))
#define AS_INT64_UNSIGNED(v) ((v) > (uint64_t) INT64_MAX ? INT64_MAX : (int64_t) (v))

/* Where alleles lie one behind the other, a loop that compilers turn into vectors. */
#define DEFINE_GET(name, type, as, out_type)                                                                           \
    static void name(const vczi_call_items_t *items, const char *from, size_t ncalls, out_type *alleles) {             \
        const size_t ploidy = items->ploidy;                                                                           \
        type item;                                                                                                     \
        if (items->allele_stride == (int64_t) sizeof(type) &&                                                          \
            items->call_stride == (int64_t) (sizeof(type) * ploidy)) {                                                 \
            for (size_t i = 0; i < ncalls * ploidy; i++) {                                                             \
                memcpy(&item, from + i * sizeof(type), sizeof(type));                                                  \
                alleles[i] = as(item);                                                                                 \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t i = 0; i < ncalls; i++) {                                                                          \
            const char *call = from + (int64_t) i * items->call_stride;                                                \
            for (size_t k = 0; k < ploidy; k++) {                                                                      \
                memcpy(&item, call + (int64_t) k * items->allele_stride, sizeof(type));                                \
                alleles[i * ploidy + k] = as(item);                                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_GET(get_bytes_i8, int8_t, AS_BYTE, uint8_t)
DEFINE_GET(get_bytes_i16, int16_t, AS_BYTE_SIGNED, uint8_t)
DEFINE_GET(get_bytes_i32, int32_t, AS_BYTE_SIGNED, uint8_t)
DEFINE_GET(get_bytes_i64, int64_t, AS_BYTE_SIGNED, uint8_t)
DEFINE_GET(get_bytes_u8, uint8_t, AS_BYTE_UNSIGNED, uint8_t)
DEFINE_GET(get_bytes_u16, uint16_t, AS_BYTE_UNSIGNED, uint8_t)
DEFINE_GET(get_bytes_u32, uint32_t, AS_BYTE_UNSIGNED, uint8_t)
DEFINE_GET(get_bytes_u64, uint64_t, AS_BYTE_UNSIGNED, uint8_t)

void vczi_items_get_i8(const vczi_call_items_t *items, const char *from, size_t ncalls, uint8_t *alleles) {
    switch (items->dtype) {
        case VCZC_INT8:
            get_bytes_i8(items, from, ncalls, alleles);
            break;
        case VCZC_INT16:
            get_bytes_i16(items, from, ncalls, alleles);
            break;
        case VCZC_INT32:
            get_bytes_i32(items, from, ncalls, alleles);
            break;
        case VCZC_INT64:
            get_bytes_i64(items, from, ncalls, alleles);
            break;
        case VCZC_UINT8:
            get_bytes_u8(items, from, ncalls, alleles);
            break;
        case VCZC_UINT16:
            get_bytes_u16(items, from, ncalls, alleles);
            break;
        case VCZC_UINT32:
            get_bytes_u32(items, from, ncalls, alleles);
            break;
        default:
            get_bytes_u64(items, from, ncalls, alleles);
    }
}

DEFINE_GET(get_numbers_i8, int8_t, AS_INT64, int64_t)
DEFINE_GET(get_numbers_i16, int16_t, AS_INT64, int64_t)
DEFINE_GET(get_numbers_i32, int32_t, AS_INT64, int64_t)
DEFINE_GET(get_numbers_i64, int64_t, AS_INT64, int64_t)
DEFINE_GET(get_numbers_u8, uint8_t, AS_INT64, int64_t)
DEFINE_GET(get_numbers_u16, uint16_t, AS_INT64, int64_t)
DEFINE_GET(get_numbers_u32, uint32_t, AS_INT64, int64_t)
DEFINE_GET(get_numbers_u64, uint64_t, AS_INT64_UNSIGNED, int64_t)

void vczi_items_get_i64(const vczi_call_items_t *items, const char *from, size_t ncalls, int64_t *alleles) {
    switch (items->dtype) {
        case VCZC_INT8:
            get_numbers_i8(items, from, ncalls, alleles);
            break;
        case VCZC_INT16:
            get_numbers_i16(items, from, ncalls, alleles);
            break;
        case VCZC_INT32:
            get_numbers_i32(items, from, ncalls, alleles);
            break;
        case VCZC_INT64:
            get_numbers_i64(items, from, ncalls, alleles);
            break;
        case VCZC_UINT8:
            get_numbers_u8(items, from, ncalls, alleles);
            break;
        case VCZC_UINT16:
            get_numbers_u16(items, from, ncalls, alleles);
            break;
        case VCZC_UINT32:
            get_numbers_u32(items, from, ncalls, alleles);
            break;
        default:
            get_numbers_u64(items, from, ncalls, alleles);
    }
}

/* ---- Dosages ---- */

#define AS_NUMBER(type, v) ((type) (v))
#define AS_FLOAT(type, v) ((v) < 0 ? (type) NAN : (type) (v))

#define DEFINE_PUT(name, in_type, type, as)                                                                            \
    static void name(const in_type *numbers, size_t n, char *out, int64_t stride) {                                    \
        if (stride == (int64_t) sizeof(type)) {                                                                        \
            for (size_t i = 0; i < n; i++) {                                                                           \
                const type item = as(type, numbers[i]);                                                                \
                memcpy(out + i * sizeof(type), &item, sizeof(type));                                                   \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const type item = as(type, numbers[i]);                                                                    \
            memcpy(out + (int64_t) i * stride, &item, sizeof(type));                                                   \
        }                                                                                                              \
    }

/* A function for each type that dosages may have, and the choice among them. */
#define DEFINE_PUTS(prefix, in_type)                                                                                   \
    DEFINE_PUT(prefix##_as_i8, in_type, int8_t, AS_NUMBER)                                                             \
    DEFINE_PUT(prefix##_as_i16, in_type, int16_t, AS_NUMBER)                                                           \
    DEFINE_PUT(prefix##_as_i32, in_type, int32_t, AS_NUMBER)                                                           \
    DEFINE_PUT(prefix##_as_i64, in_type, int64_t, AS_NUMBER)                                                           \
    DEFINE_PUT(prefix##_as_f32, in_type, float, AS_FLOAT)                                                              \
    DEFINE_PUT(prefix##_as_f64, in_type, double, AS_FLOAT)                                                             \
    static void prefix(const in_type *numbers, size_t n, int dtype, char *out, int64_t stride) {                       \
        switch (dtype) {                                                                                               \
            case VCZC_INT8:                                                                                            \
                prefix##_as_i8(numbers, n, out, stride);                                                               \
                break;                                                                                                 \
            case VCZC_INT16:                                                                                           \
                prefix##_as_i16(numbers, n, out, stride);                                                              \
                break;                                                                                                 \
            case VCZC_INT32:                                                                                           \
                prefix##_as_i32(numbers, n, out, stride);                                                              \
                break;                                                                                                 \
            case VCZC_INT64:                                                                                           \
                prefix##_as_i64(numbers, n, out, stride);                                                              \
                break;                                                                                                 \
            case VCZC_FLOAT32:                                                                                         \
                prefix##_as_f32(numbers, n, out, stride);                                                              \
                break;                                                                                                 \
            default:                                                                                                   \
                prefix##_as_f64(numbers, n, out, stride);                                                              \
        }                                                                                                              \
    }

DEFINE_PUTS(put_bytes, int8_t)
DEFINE_PUTS(put_numbers, int32_t)

void vczi_items_put_i8(const int8_t *numbers, size_t n, int dtype, char *out, int64_t stride) {
    put_bytes(numbers, n, dtype, out, stride);
}

void vczi_items_put_i32(const int32_t *numbers, size_t n, int dtype, char *out, int64_t stride) {
    put_numbers(numbers, n, dtype, out, stride);
}
