/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Items go through a block of a wide type that holds all of them exactly: int64 (bit for bit uint64 too) between whole
 * numbers, double where a float is at either end. What double cannot carry has loops of its own: 64-bit integers that
 * become floats. All loops are plain, for the compiler to vectorise. */
#include "cast.h"

#include <string.h>

#include "swap.h"
#include "vczc.h"

/* Items of a block: the wide ones fill half of the first-level cache. */
#define BLOCK_NITEMS 1024

/* ---- float16 ---- */

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

double vczi_half_to_double(uint16_t half) {
    const uint64_t sign = (uint64_t) (half & 0x8000u) << 48;
    const uint64_t mantissa = half & 0x3FFu;
    const uint64_t exponent = half >> 10 & 31u;
    if (exponent == 31) {
        return of_bits(sign | (uint64_t) 0x7FF << 52 | mantissa << 42);
    }
    if (exponent == 0) {
        const double tiny = (double) mantissa * 0x1p-24; /* exact */
        return of_bits(bits_of(tiny) | sign);
    }
    return of_bits(sign | (exponent + 1023 - 15) << 52 | mantissa << 42);
}

/* `bits` are a double's. */
static uint16_t half_of_bits(uint64_t bits) {
    const uint16_t sign = (uint16_t) (bits >> 48 & 0x8000u);
    const uint64_t mantissa = bits & (((uint64_t) 1 << 52) - 1);
    const int exponent = (int) (bits >> 52 & 0x7FF) - 1023;
    if (exponent == 1024 && mantissa != 0) {
        const uint16_t payload = (uint16_t) (mantissa >> 42);
        return (uint16_t) (sign | 0x7C00u | (payload != 0 ? payload : 1u)); /* it must stay a NaN */
    }
    if (exponent > 15) {
        return (uint16_t) (sign | 0x7C00u);
    }
    if (exponent < -25) {
        return sign;
    }
    /* Drop bits, rounding to even; a carry runs into the exponent as it should. */
    const int ndropped = exponent >= -14 ? 42 : 42 + (-14 - exponent);
    const uint64_t whole = mantissa | (uint64_t) 1 << 52;
    const uint64_t rest = whole & (((uint64_t) 1 << ndropped) - 1);
    const uint64_t middle = (uint64_t) 1 << (ndropped - 1);
    uint64_t half = whole >> ndropped;
    half += rest > middle || (rest == middle && (half & 1) != 0);
    if (exponent >= -14) {
        half += (uint64_t) (exponent + 14) << 10; /* the leading bit of `half` is the exponent's last */
    }
    return (uint16_t) (sign | half);
}

uint16_t vczi_half_of_double(double value) {
    return half_of_bits(bits_of(value));
}

/* ---- Into the wide block and out of it ---- */

#define LOOP(name, from_t, to_t, expression)                                                                           \
    static void name(const uint8_t *in, uint8_t *out, size_t nitems) {                                                 \
        for (size_t i = 0; i < nitems; i++) {                                                                          \
            from_t x;                                                                                                  \
            memcpy(&x, in + i * sizeof(x), sizeof(x));                                                                 \
            const to_t y = (expression);                                                                               \
            memcpy(out + i * sizeof(y), &y, sizeof(y));                                                                \
        }                                                                                                              \
    }

LOOP(bool_to_whole, uint8_t, int64_t, x != 0)
LOOP(int8_to_whole, int8_t, int64_t, x)
LOOP(int16_to_whole, int16_t, int64_t, x)
LOOP(int32_to_whole, int32_t, int64_t, x)
LOOP(uint8_to_whole, uint8_t, int64_t, x)
LOOP(uint16_to_whole, uint16_t, int64_t, x)
LOOP(uint32_to_whole, uint32_t, int64_t, x)

LOOP(whole_to_bool, int64_t, uint8_t, x != 0)
LOOP(whole_to_8, uint64_t, uint8_t, (uint8_t) x)
LOOP(whole_to_16, uint64_t, uint16_t, (uint16_t) x)
LOOP(whole_to_32, uint64_t, uint32_t, (uint32_t) x)

LOOP(bool_to_real, uint8_t, double, x != 0)
LOOP(int8_to_real, int8_t, double, x)
LOOP(int16_to_real, int16_t, double, x)
LOOP(int32_to_real, int32_t, double, x)
LOOP(uint8_to_real, uint8_t, double, x)
LOOP(uint16_to_real, uint16_t, double, x)
LOOP(uint32_to_real, uint32_t, double, x)
LOOP(float16_to_real, uint16_t, double, vczi_half_to_double(x))
LOOP(float32_to_real, float, double, (double) x)
LOOP(int64_to_float64, int64_t, double, (double) x)
LOOP(uint64_to_float64, uint64_t, double, (double) x)
LOOP(int64_to_float32, int64_t, float, (float) x)
LOOP(uint64_to_float32, uint64_t, float, (float) x)

/* The comparisons are false of NaN, which takes the value of all that does not fit. */
#define TWO_31 2147483648.0
#define TWO_63 9223372036854775808.0

static int32_t int32_of(double x) {
    return (int32_t) (x > -TWO_31 - 1.0 && x < TWO_31 ? x : -TWO_31);
}

static int64_t int64_of(double x) {
    return (int64_t) (x >= -TWO_63 && x < TWO_63 ? x : -TWO_63);
}

static uint64_t uint64_of(double x) {
    if (!(x >= TWO_63)) {
        return (uint64_t) int64_of(x); /* a NaN too */
    }
    return (uint64_t) int64_of(x - TWO_63) ^ (uint64_t) 1 << 63;
}

LOOP(real_to_bool, double, uint8_t, x != 0)
LOOP(real_to_8, double, uint8_t, (uint8_t) int32_of(x))
LOOP(real_to_16, double, uint16_t, (uint16_t) int32_of(x))
LOOP(real_to_int32, double, int32_t, int32_of(x))
LOOP(real_to_uint32, double, uint32_t, (uint32_t) (uint64_t) int64_of(x))
LOOP(real_to_int64, double, int64_t, int64_of(x))
LOOP(real_to_uint64, double, uint64_t, uint64_of(x))
LOOP(real_to_float16, double, uint16_t, vczi_half_of_double(x))
LOOP(real_to_float32, double, float, (float) x)

/* NaNs pass by their bits: an arithmetic conversion would make signalling ones quiet. */
static uint16_t half_of_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    if ((bits & 0x7FFFFFFFu) <= 0x7F800000u) {
        return vczi_half_of_double((double) value);
    }
    return half_of_bits((uint64_t) (bits & 0x80000000u) << 32 | (uint64_t) 0x7FF << 52 |
                        (uint64_t) (bits & 0x7FFFFFu) << 29);
}

static uint32_t half_to_float(uint16_t half) {
    const float value = (float) vczi_half_to_double(half);
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if ((half & 0x7FFFu) <= 0x7C00u) {
        return bits;
    }
    return (uint32_t) (half & 0x8000u) << 16 | 0x7F800000u | (uint32_t) (half & 0x3FFu) << 13;
}

LOOP(float32_to_float16, uint32_t, uint16_t, half_of_float(x))
LOOP(float16_to_float32, uint16_t, uint32_t, half_to_float(x))

/* ---- The choice ---- */

typedef void (*loop_fn)(const uint8_t *in, uint8_t *out, size_t nitems);

#define NKINDS (VCZC_FLOAT64 + 1)

/* NULL: the items are the wide ones. */
static const loop_fn to_whole[NKINDS] = {
    [VCZC_BOOL] = bool_to_whole,   [VCZC_INT8] = int8_to_whole,     [VCZC_INT16] = int16_to_whole,
    [VCZC_INT32] = int32_to_whole, [VCZC_UINT8] = uint8_to_whole,   [VCZC_UINT16] = uint16_to_whole,
    [VCZC_INT64] = NULL,           [VCZC_UINT32] = uint32_to_whole, [VCZC_UINT64] = NULL,
};

static const loop_fn of_whole[NKINDS] = {
    [VCZC_BOOL] = whole_to_bool, [VCZC_INT8] = whole_to_8,    [VCZC_INT16] = whole_to_16,
    [VCZC_INT32] = whole_to_32,  [VCZC_UINT8] = whole_to_8,   [VCZC_UINT16] = whole_to_16,
    [VCZC_INT64] = NULL,         [VCZC_UINT32] = whole_to_32, [VCZC_UINT64] = NULL,
};

static const loop_fn to_real[NKINDS] = {
    [VCZC_BOOL] = bool_to_real,       [VCZC_INT8] = int8_to_real,       [VCZC_INT16] = int16_to_real,
    [VCZC_INT32] = int32_to_real,     [VCZC_INT64] = int64_to_float64,  [VCZC_UINT8] = uint8_to_real,
    [VCZC_UINT16] = uint16_to_real,   [VCZC_UINT32] = uint32_to_real,   [VCZC_UINT64] = uint64_to_float64,
    [VCZC_FLOAT16] = float16_to_real, [VCZC_FLOAT32] = float32_to_real, [VCZC_FLOAT64] = NULL,
};

static const loop_fn of_real[NKINDS] = {
    [VCZC_BOOL] = real_to_bool,       [VCZC_INT8] = real_to_8,          [VCZC_INT16] = real_to_16,
    [VCZC_INT32] = real_to_int32,     [VCZC_INT64] = real_to_int64,     [VCZC_UINT8] = real_to_8,
    [VCZC_UINT16] = real_to_16,       [VCZC_UINT32] = real_to_uint32,   [VCZC_UINT64] = real_to_uint64,
    [VCZC_FLOAT16] = real_to_float16, [VCZC_FLOAT32] = real_to_float32, [VCZC_FLOAT64] = NULL,
};

static bool is_float(int kind) {
    return kind == VCZC_FLOAT16 || kind == VCZC_FLOAT32 || kind == VCZC_FLOAT64;
}

/* One loop that does it all, where double cannot stand between; else NULL. */
static loop_fn find_direct(int from, int to) {
    if (to == VCZC_FLOAT32) {
        return from == VCZC_INT64     ? int64_to_float32
               : from == VCZC_UINT64  ? uint64_to_float32
               : from == VCZC_FLOAT16 ? float16_to_float32
                                      : NULL;
    }
    return to == VCZC_FLOAT16 && from == VCZC_FLOAT32 ? float32_to_float16 : NULL;
}

/* A block of native items. */
static void cast_block(int from, const uint8_t *in, int to, uint8_t *out, size_t nitems) {
    uint8_t wide[BLOCK_NITEMS * sizeof(double)];
    const loop_fn direct = find_direct(from, to);
    if (direct != NULL) {
        direct(in, out, nitems);
        return;
    }
    const bool is_real = is_float(from) || is_float(to);
    const loop_fn first = is_real ? to_real[from] : to_whole[from];
    const loop_fn second = is_real ? of_real[to] : of_whole[to];
    if (first == NULL && second == NULL) {
        memcpy(out, in, nitems * sizeof(double)); /* int64 and uint64 */
    } else if (second == NULL) {
        first(in, out, nitems);
    } else if (first == NULL) {
        second(in, out, nitems);
    } else {
        first(in, wide, nitems);
        second(wide, out, nitems);
    }
}

void vczi_cast(const vczi_items_t *from, const uint8_t *in, const vczi_items_t *to, uint8_t *out, size_t nitems) {
    uint8_t turned[BLOCK_NITEMS * sizeof(double)];
    if (nitems == 0) {
        return;
    }
    if (from->kind == to->kind) {
        memcpy(out, in, nitems * from->nbytes);
        if (from->is_swapped != to->is_swapped) {
            vczi_swap(out, nitems, to->nbytes);
        }
        return;
    }
    for (size_t done = 0; done < nitems; done += BLOCK_NITEMS) {
        const size_t n = nitems - done < BLOCK_NITEMS ? nitems - done : BLOCK_NITEMS;
        const uint8_t *items = in + done * from->nbytes;
        uint8_t *place = out + done * to->nbytes;
        if (from->is_swapped) {
            memcpy(turned, items, n * from->nbytes);
            vczi_swap(turned, n, from->nbytes);
            items = turned;
        }
        cast_block(from->kind, items, to->kind, place, n);
        if (to->is_swapped) {
            vczi_swap(place, n, to->nbytes);
        }
    }
}
