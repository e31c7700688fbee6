/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Plain loops for the compiler; running sums of narrow items, which no compiler vectorises, have a kernel for SSE2 and
 * one for NEON: sums within a register by shifted adds, and the last item carried to the next. */
#include "unfilter.h"

#include <string.h>

#include "bytes.h"
#include "swap.h"
#include "vczc.h"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define VCZI_SUM_SSE2 1
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
#include <arm_neon.h>
#define VCZI_SUM_NEON 1
#endif

#define REGISTER_NBYTES 16

/* Items that are cast, summed and turned while they are in the first-level cache. */
#define BLOCK_NITEMS 2048

/* ---- Running sums; `in` may be `out` ---- */

/* Sum whole registers; returns how many items that were. `*carry` is the sum before, and the sum after them. */
#if VCZI_SUM_SSE2
static size_t sum_wide_8(const uint8_t *in, uint8_t *out, size_t nitems, uint8_t *carry) {
    const size_t end = nitems - nitems % REGISTER_NBYTES;
    __m128i before = _mm_set1_epi8((char) *carry);
    for (size_t i = 0; i < end; i += REGISTER_NBYTES) {
        __m128i x = _mm_loadu_si128((const __m128i *) (const void *) (in + i));
        x = _mm_add_epi8(x, _mm_slli_si128(x, 1));
        x = _mm_add_epi8(x, _mm_slli_si128(x, 2));
        x = _mm_add_epi8(x, _mm_slli_si128(x, 4));
        x = _mm_add_epi8(x, _mm_slli_si128(x, 8));
        /* The register's own sum in each place does not wait for the carry: one add a register does. */
        __m128i last = _mm_srli_si128(x, 15);
        last = _mm_unpacklo_epi8(last, last);
        last = _mm_shuffle_epi32(_mm_shufflelo_epi16(last, 0), 0);
        _mm_storeu_si128((__m128i *) (void *) (out + i), _mm_add_epi8(x, before));
        before = _mm_add_epi8(before, last);
    }
    *carry = (uint8_t) _mm_cvtsi128_si32(before);
    return end;
}

static size_t sum_wide_16(const uint8_t *in, uint8_t *out, size_t nitems, uint16_t *carry) {
    const size_t end = nitems - nitems % (REGISTER_NBYTES / 2);
    __m128i before = _mm_set1_epi16((short) *carry);
    for (size_t i = 0; i < 2 * end; i += REGISTER_NBYTES) {
        __m128i x = _mm_loadu_si128((const __m128i *) (const void *) (in + i));
        x = _mm_add_epi16(x, _mm_slli_si128(x, 2));
        x = _mm_add_epi16(x, _mm_slli_si128(x, 4));
        x = _mm_add_epi16(x, _mm_slli_si128(x, 8));
        const __m128i last = _mm_shuffle_epi32(_mm_shufflehi_epi16(x, 0xFF), 0xFF);
        _mm_storeu_si128((__m128i *) (void *) (out + i), _mm_add_epi16(x, before));
        before = _mm_add_epi16(before, last);
    }
    *carry = (uint16_t) _mm_cvtsi128_si32(before);
    return end;
}

static size_t sum_wide_32(const uint8_t *in, uint8_t *out, size_t nitems, uint32_t *carry) {
    const size_t end = nitems - nitems % (REGISTER_NBYTES / 4);
    __m128i before = _mm_set1_epi32((int) *carry);
    for (size_t i = 0; i < 4 * end; i += REGISTER_NBYTES) {
        __m128i x = _mm_loadu_si128((const __m128i *) (const void *) (in + i));
        x = _mm_add_epi32(x, _mm_slli_si128(x, 4));
        x = _mm_add_epi32(x, _mm_slli_si128(x, 8));
        _mm_storeu_si128((__m128i *) (void *) (out + i), _mm_add_epi32(x, before));
        before = _mm_add_epi32(before, _mm_shuffle_epi32(x, 0xFF));
    }
    *carry = (uint32_t) _mm_cvtsi128_si32(before);
    return end;
}
#elif VCZI_SUM_NEON
static size_t sum_wide_8(const uint8_t *in, uint8_t *out, size_t nitems, uint8_t *carry) {
    const size_t end = nitems - nitems % REGISTER_NBYTES;
    const uint8x16_t zero = vdupq_n_u8(0);
    uint8x16_t before = vdupq_n_u8(*carry);
    for (size_t i = 0; i < end; i += REGISTER_NBYTES) {
        uint8x16_t x = vld1q_u8(in + i);
        x = vaddq_u8(x, vextq_u8(zero, x, 15));
        x = vaddq_u8(x, vextq_u8(zero, x, 14));
        x = vaddq_u8(x, vextq_u8(zero, x, 12));
        x = vaddq_u8(x, vextq_u8(zero, x, 8));
        vst1q_u8(out + i, vaddq_u8(x, before));
        before = vaddq_u8(before, vdupq_laneq_u8(x, 15));
    }
    *carry = vgetq_lane_u8(before, 0);
    return end;
}

static size_t sum_wide_16(const uint8_t *in, uint8_t *out, size_t nitems, uint16_t *carry) {
    const size_t end = nitems - nitems % (REGISTER_NBYTES / 2);
    const uint8x16_t zero = vdupq_n_u8(0);
    uint16x8_t before = vdupq_n_u16(*carry);
    for (size_t i = 0; i < 2 * end; i += REGISTER_NBYTES) {
        uint16x8_t x = vreinterpretq_u16_u8(vld1q_u8(in + i));
        x = vaddq_u16(x, vreinterpretq_u16_u8(vextq_u8(zero, vreinterpretq_u8_u16(x), 14)));
        x = vaddq_u16(x, vreinterpretq_u16_u8(vextq_u8(zero, vreinterpretq_u8_u16(x), 12)));
        x = vaddq_u16(x, vreinterpretq_u16_u8(vextq_u8(zero, vreinterpretq_u8_u16(x), 8)));
        vst1q_u8(out + i, vreinterpretq_u8_u16(vaddq_u16(x, before)));
        before = vaddq_u16(before, vdupq_laneq_u16(x, 7));
    }
    *carry = vgetq_lane_u16(before, 0);
    return end;
}

static size_t sum_wide_32(const uint8_t *in, uint8_t *out, size_t nitems, uint32_t *carry) {
    const size_t end = nitems - nitems % (REGISTER_NBYTES / 4);
    const uint8x16_t zero = vdupq_n_u8(0);
    uint32x4_t before = vdupq_n_u32(*carry);
    for (size_t i = 0; i < 4 * end; i += REGISTER_NBYTES) {
        uint32x4_t x = vreinterpretq_u32_u8(vld1q_u8(in + i));
        x = vaddq_u32(x, vreinterpretq_u32_u8(vextq_u8(zero, vreinterpretq_u8_u32(x), 12)));
        x = vaddq_u32(x, vreinterpretq_u32_u8(vextq_u8(zero, vreinterpretq_u8_u32(x), 8)));
        vst1q_u8(out + i, vreinterpretq_u8_u32(vaddq_u32(x, before)));
        before = vaddq_u32(before, vdupq_laneq_u32(x, 3));
    }
    *carry = vgetq_lane_u32(before, 0);
    return end;
}
#else
static size_t sum_wide_8(const uint8_t *in, uint8_t *out, size_t nitems, uint8_t *carry) {
    (void) in;
    (void) out;
    (void) nitems;
    (void) carry;
    return 0;
}

static size_t sum_wide_16(const uint8_t *in, uint8_t *out, size_t nitems, uint16_t *carry) {
    (void) in;
    (void) out;
    (void) nitems;
    (void) carry;
    return 0;
}

static size_t sum_wide_32(const uint8_t *in, uint8_t *out, size_t nitems, uint32_t *carry) {
    (void) in;
    (void) out;
    (void) nitems;
    (void) carry;
    return 0;
}
#endif

static size_t sum_wide_64(const uint8_t *in, uint8_t *out, size_t nitems, uint64_t *carry) {
    (void) in;
    (void) out;
    (void) nitems;
    (void) carry;
    return 0; /* an item a cycle is as fast as memory already */
}

/* The sum before these items, in their type; it starts as nothing: the first item is taken as it is (0 + -0.0 would
 * lose the sign). */
typedef struct {
    bool is_there;
    uint8_t bytes[sizeof(double)];
} carry_t;

#define SUM_WHOLE(name, item_t, sum_wide)                                                                              \
    static void name(const uint8_t *in, uint8_t *out, size_t nitems, carry_t *carry) {                                 \
        item_t sum = 0;                                                                                                \
        memcpy(&sum, carry->bytes, sizeof(sum)); /* 0 at first */                                                      \
        for (size_t i = sum_wide(in, out, nitems, &sum); i < nitems; i++) {                                            \
            item_t item;                                                                                               \
            memcpy(&item, in + i * sizeof(item), sizeof(item));                                                        \
            sum = (item_t) (sum + item);                                                                               \
            memcpy(out + i * sizeof(item), &sum, sizeof(sum));                                                         \
        }                                                                                                              \
        memcpy(carry->bytes, &sum, sizeof(sum));                                                                       \
    }

SUM_WHOLE(sum_8, uint8_t, sum_wide_8)
SUM_WHOLE(sum_16, uint16_t, sum_wide_16)
SUM_WHOLE(sum_32, uint32_t, sum_wide_32)
SUM_WHOLE(sum_64, uint64_t, sum_wide_64)

#define SUM_ORDERED(name, item_t, expression)                                                                          \
    static void name(const uint8_t *in, uint8_t *out, size_t nitems, carry_t *carry) {                                 \
        item_t sum;                                                                                                    \
        size_t i = 0;                                                                                                  \
        if (!carry->is_there) {                                                                                        \
            memcpy(carry->bytes, in, sizeof(sum));                                                                     \
            memcpy(out, carry->bytes, sizeof(sum));                                                                    \
            carry->is_there = true;                                                                                    \
            i = 1;                                                                                                     \
        }                                                                                                              \
        memcpy(&sum, carry->bytes, sizeof(sum));                                                                       \
        for (; i < nitems; i++) {                                                                                      \
            item_t item;                                                                                               \
            memcpy(&item, in + i * sizeof(item), sizeof(item));                                                        \
            sum = (expression);                                                                                        \
            memcpy(out + i * sizeof(item), &sum, sizeof(sum));                                                         \
        }                                                                                                              \
        memcpy(carry->bytes, &sum, sizeof(sum));                                                                       \
    }

SUM_ORDERED(sum_bool, uint8_t, (uint8_t) (sum != 0 || item != 0))
SUM_ORDERED(sum_float16, uint16_t, vczi_half_of_double(vczi_half_to_double(sum) + vczi_half_to_double(item)))
SUM_ORDERED(sum_float32, float, sum + item)
SUM_ORDERED(sum_float64, double, sum + item)

static bool is_same(const vczi_items_t *a, const vczi_items_t *b) {
    return a->kind == b->kind && a->is_swapped == b->is_swapped;
}

typedef void (*sum_fn)(const uint8_t *in, uint8_t *out, size_t nitems, carry_t *carry);

static sum_fn find_sum(int kind) {
    switch (kind) {
        case VCZC_BOOL:
            return sum_bool;
        case VCZC_INT8:
        case VCZC_UINT8:
            return sum_8;
        case VCZC_INT16:
        case VCZC_UINT16:
            return sum_16;
        case VCZC_INT32:
        case VCZC_UINT32:
            return sum_32;
        case VCZC_FLOAT16:
            return sum_float16;
        case VCZC_FLOAT32:
            return sum_float32;
        case VCZC_FLOAT64:
            return sum_float64;
        default:
            return sum_64;
    }
}

static bool is_signed(int kind) {
    return kind >= VCZC_INT8 && kind <= VCZC_INT64;
}

/* The float that holds what `items` may be, as NumPy promotes. */
static int float_for(const vczi_items_t *items) {
    if (items->kind >= VCZC_FLOAT16) {
        return items->kind;
    }
    return items->nbytes == 1 ? VCZC_FLOAT16 : items->nbytes == 2 ? VCZC_FLOAT32 : VCZC_FLOAT64;
}

/* The type that NumPy sums in: what both can be promoted to. Of whole numbers the last bits alone count, so that the
 * type of the result does as well. */
static int kind_of_sums(const vczi_items_t *from, const vczi_items_t *to) {
    if (from->kind == to->kind) {
        return to->kind;
    }
    if (from->kind >= VCZC_FLOAT16 || to->kind >= VCZC_FLOAT16) {
        const int one = from->kind == VCZC_BOOL ? VCZC_FLOAT16 : float_for(from);
        const int other = to->kind == VCZC_BOOL ? VCZC_FLOAT16 : float_for(to);
        return one > other ? one : other;
    }
    if ((from->kind == VCZC_UINT64 && is_signed(to->kind)) || (to->kind == VCZC_UINT64 && is_signed(from->kind))) {
        return VCZC_FLOAT64;
    }
    return to->kind == VCZC_BOOL ? from->kind : to->kind;
}

static size_t nbytes_of(int kind, const vczi_items_t *from, const vczi_items_t *to) {
    if (kind == from->kind || kind == to->kind) {
        return kind == from->kind ? from->nbytes : to->nbytes;
    }
    return kind == VCZC_FLOAT32 ? sizeof(float) : sizeof(double);
}

void vczi_undelta(const vczi_items_t *from, const uint8_t *in, const vczi_items_t *to, uint8_t *out, size_t nitems) {
    uint8_t block[BLOCK_NITEMS * sizeof(double)];
    const int kind = kind_of_sums(from, to);
    const vczi_items_t summed = vczi_native_items(kind, nbytes_of(kind, from, to));
    const sum_fn sum = find_sum(kind);
    carry_t carry = {0};
    for (size_t done = 0; done < nitems; done += BLOCK_NITEMS) {
        const size_t n = nitems - done < BLOCK_NITEMS ? nitems - done : BLOCK_NITEMS;
        const uint8_t *items = in + done * from->nbytes;
        uint8_t *place = out + done * to->nbytes;
        if (!is_same(from, &summed)) {
            vczi_cast(from, items, &summed, block, n);
            items = block;
        }
        if (is_same(&summed, to)) {
            sum(items, place, n, &carry);
        } else {
            sum(items, block, n, &carry);
            vczi_cast(&summed, block, to, place, n);
        }
    }
}

/* ---- Scale and offset; `in` may be `out` ---- */

static void scale_float64(const uint8_t *in, uint8_t *out, size_t nitems, double scale, double offset) {
    for (size_t i = 0; i < nitems; i++) {
        double x;
        memcpy(&x, in + i * sizeof(x), sizeof(x));
        x = x / scale + offset;
        memcpy(out + i * sizeof(x), &x, sizeof(x));
    }
}

static void scale_float32(const uint8_t *in, uint8_t *out, size_t nitems, double scale, double offset) {
    const float divisor = (float) scale;
    const float addend = (float) offset;
    for (size_t i = 0; i < nitems; i++) {
        float x;
        memcpy(&x, in + i * sizeof(x), sizeof(x));
        x = x / divisor + addend;
        memcpy(out + i * sizeof(x), &x, sizeof(x));
    }
}

/* Each step is rounded to float16, as NumPy does: double holds the exact quotient's and sum's rounding. */
static void scale_float16(const uint8_t *in, uint8_t *out, size_t nitems, double scale, double offset) {
    const double divisor = vczi_half_to_double(vczi_half_of_double(scale));
    const double addend = vczi_half_to_double(vczi_half_of_double(offset));
    for (size_t i = 0; i < nitems; i++) {
        uint16_t half;
        memcpy(&half, in + i * sizeof(half), sizeof(half));
        half = vczi_half_of_double(vczi_half_to_double(half) / divisor);
        half = vczi_half_of_double(vczi_half_to_double(half) + addend);
        memcpy(out + i * sizeof(half), &half, sizeof(half));
    }
}

typedef void (*scale_fn)(const uint8_t *in, uint8_t *out, size_t nitems, double scale, double offset);

void vczi_unscale(const vczi_items_t *from, const uint8_t *in, double scale, double offset, const vczi_items_t *to,
                  uint8_t *out, size_t nitems) {
    uint8_t block[BLOCK_NITEMS * sizeof(double)];
    vczi_items_t wide = vczi_native_items(VCZC_FLOAT64, sizeof(double));
    if (from->kind == VCZC_FLOAT16 || from->kind == VCZC_FLOAT32) {
        wide = vczi_native_items(from->kind, from->nbytes);
    }
    const scale_fn apply = wide.kind == VCZC_FLOAT64   ? scale_float64
                           : wide.kind == VCZC_FLOAT32 ? scale_float32
                                                       : scale_float16;
    for (size_t done = 0; done < nitems; done += BLOCK_NITEMS) {
        const size_t n = nitems - done < BLOCK_NITEMS ? nitems - done : BLOCK_NITEMS;
        const uint8_t *items = in + done * from->nbytes;
        uint8_t *place = out + done * to->nbytes;
        uint8_t *scaled = is_same(&wide, to) ? place : block;
        if (!is_same(from, &wide)) {
            vczi_cast(from, items, &wide, block, n);
            items = block;
        }
        apply(items, scaled, n, scale, offset);
        if (scaled == block) {
            vczi_cast(&wide, block, to, place, n);
        }
    }
}

/* ---- Bits ---- */

/* Byte k of the product, shifted by 7, has bit 7 - k of `packed` as its lowest bit: the copies of `packed` lie 9 bits
 * apart, so that none touches another. */
static uint64_t spread(uint8_t packed) {
    return (uint64_t) packed * 0x8040201008040201u >> 7 & 0x0101010101010101u;
}

static void store_u64le(uint8_t *out, uint64_t value) {
    if (vczi_host_is_big_endian()) {
        vczi_swap(&value, 1, sizeof(value));
    }
    memcpy(out, &value, sizeof(value));
}

void vczi_unpack_bits(const uint8_t *in, uint8_t *out, size_t nbits) {
    const size_t nwhole = nbits / 8;
    for (size_t i = 0; i < nwhole; i++) {
        store_u64le(out + 8 * i, spread(in[i]));
    }
    for (size_t bit = 8 * nwhole; bit < nbits; bit++) {
        out[bit] = (uint8_t) (in[nwhole] >> (7 - bit % 8) & 1u);
    }
}
