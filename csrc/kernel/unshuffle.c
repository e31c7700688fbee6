/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Byte- and bit-unshuffle: the portable kernels, the choice among the kernels of the processor, and the ranges.
 * Bit-shuffled items of several bytes are unshuffled bit by bit into byte planes, a tile at a time, and these byte by
 * byte into items. */
#include "unshuffle.h"

#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "cpu.h"
#include "unshuffle_kernels.h"

/* Bit-shuffled items of several bytes become byte planes in a tile of this size, which stays in the first cache. */
#define TILE_NBYTES ((size_t) 16384)

/* Fewer groups are expanded without a look at what they hold. */
#define MIN_COUNTED_NGROUPS 64

static VCZI_ALWAYS_INLINE uint64_t load64(const uint8_t *p) {
    uint64_t word;
    if (vczi_host_is_big_endian()) return vczi_load_u64le(p);
    memcpy(&word, p, sizeof(word));
    return word;
}

static VCZI_ALWAYS_INLINE void store64(uint8_t *p, uint64_t word) {
    if (vczi_host_is_big_endian()) {
        for (int i = 0; i < 8; i++)
            p[i] = (uint8_t) (word >> (8 * i));
        return;
    }
    memcpy(p, &word, sizeof(word));
}

/* Exchange the bits `mask << shift` of *low with the bits `mask` of *high. */
static VCZI_ALWAYS_INLINE void exchange(uint64_t *low, uint64_t *high, int shift, uint64_t mask) {
    const uint64_t differ = ((*low >> shift) ^ *high) & mask;
    *high ^= differ;
    *low ^= differ << shift;
}

/* One step of a transpose of eight rows: exchange between rows that are `distance` apart. Written out, since
 * compilers do not unroll it at -O2. */
static VCZI_ALWAYS_INLINE void exchange_4(uint64_t rows[8], int shift, uint64_t mask) {
    exchange(&rows[0], &rows[4], shift, mask);
    exchange(&rows[1], &rows[5], shift, mask);
    exchange(&rows[2], &rows[6], shift, mask);
    exchange(&rows[3], &rows[7], shift, mask);
}

static VCZI_ALWAYS_INLINE void exchange_2(uint64_t rows[8], int shift, uint64_t mask) {
    exchange(&rows[0], &rows[2], shift, mask);
    exchange(&rows[1], &rows[3], shift, mask);
    exchange(&rows[4], &rows[6], shift, mask);
    exchange(&rows[5], &rows[7], shift, mask);
}

static VCZI_ALWAYS_INLINE void exchange_1(uint64_t rows[8], int shift, uint64_t mask) {
    exchange(&rows[0], &rows[1], shift, mask);
    exchange(&rows[2], &rows[3], shift, mask);
    exchange(&rows[4], &rows[5], shift, mask);
    exchange(&rows[6], &rows[7], shift, mask);
}

/* Byte j of rows[i] becomes byte i of rows[j]. */
static VCZI_ALWAYS_INLINE void transpose_bytes(uint64_t rows[8]) {
    exchange_4(rows, 32, UINT64_C(0x00000000FFFFFFFF));
    exchange_2(rows, 16, UINT64_C(0x0000FFFF0000FFFF));
    exchange_1(rows, 8, UINT64_C(0x00FF00FF00FF00FF));
}

/* In each column of bytes: bit j of rows[i] becomes bit i of rows[j]. */
static VCZI_ALWAYS_INLINE void transpose_bits(uint64_t rows[8]) {
    exchange_4(rows, 4, UINT64_C(0x0F0F0F0F0F0F0F0F));
    exchange_2(rows, 2, UINT64_C(0x3333333333333333));
    exchange_1(rows, 1, UINT64_C(0x5555555555555555));
}

static VCZI_ALWAYS_INLINE void load_rows(uint64_t rows[8], const uint8_t *planes, size_t stride) {
    rows[0] = load64(planes);
    rows[1] = load64(planes + stride);
    rows[2] = load64(planes + 2 * stride);
    rows[3] = load64(planes + 3 * stride);
    rows[4] = load64(planes + 4 * stride);
    rows[5] = load64(planes + 5 * stride);
    rows[6] = load64(planes + 6 * stride);
    rows[7] = load64(planes + 7 * stride);
}

static VCZI_ALWAYS_INLINE void store_rows(uint8_t *out, size_t step, const uint64_t rows[8]) {
    store64(out, rows[0]);
    store64(out + step, rows[1]);
    store64(out + 2 * step, rows[2]);
    store64(out + 3 * step, rows[3]);
    store64(out + 4 * step, rows[4]);
    store64(out + 5 * step, rows[5]);
    store64(out + 6 * step, rows[6]);
    store64(out + 7 * step, rows[7]);
}

static void scatter_items(const uint8_t *planes, size_t stride, size_t item_nbytes, size_t begin, size_t end,
                          uint8_t *out) {
    for (size_t i = begin; i < end; i++) {
        for (size_t j = 0; j < item_nbytes; j++)
            out[i * item_nbytes + j] = planes[j * stride + i];
    }
}

static void bytes2(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 8 <= nitems; i += 8) {
        uint64_t a = load64(planes + i);
        uint64_t b = load64(planes + stride + i);
        exchange(&a, &b, 8, UINT64_C(0x00FF00FF00FF00FF));  /* items 0, 2, 4, 6 and 1, 3, 5, 7 */
        exchange(&a, &b, 16, UINT64_C(0x0000FFFF0000FFFF)); /* 0, 1, 4, 5 and 2, 3, 6, 7 */
        exchange(&a, &b, 32, UINT64_C(0x00000000FFFFFFFF));
        store64(out + 2 * i, a);
        store64(out + 2 * i + 8, b);
    }
    scatter_items(planes, stride, 2, i, nitems, out);
}

static void bytes4(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 8 <= nitems; i += 8) {
        uint64_t a = load64(planes + i);
        uint64_t b = load64(planes + stride + i);
        uint64_t c = load64(planes + 2 * stride + i);
        uint64_t d = load64(planes + 3 * stride + i);
        exchange(&a, &b, 8, UINT64_C(0x00FF00FF00FF00FF));
        exchange(&c, &d, 8, UINT64_C(0x00FF00FF00FF00FF));
        exchange(&a, &c, 16, UINT64_C(0x0000FFFF0000FFFF)); /* items 0, 4 and 2, 6 */
        exchange(&b, &d, 16, UINT64_C(0x0000FFFF0000FFFF)); /* 1, 5 and 3, 7 */
        exchange(&a, &b, 32, UINT64_C(0x00000000FFFFFFFF));
        exchange(&c, &d, 32, UINT64_C(0x00000000FFFFFFFF));
        store64(out + 4 * i, a);
        store64(out + 4 * i + 8, c);
        store64(out + 4 * i + 16, b);
        store64(out + 4 * i + 24, d);
    }
    scatter_items(planes, stride, 4, i, nitems, out);
}

static void bytes3(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    for (size_t i = 0; i < nitems; i++) {
        out[3 * i] = planes[i];
        out[3 * i + 1] = planes[stride + i];
        out[3 * i + 2] = planes[2 * stride + i];
    }
}

/* Items of five to seven bytes are stored as eight; what is too much is overwritten by the items that follow. Hence
 * one of them must follow the last. */
static size_t short_items(const uint8_t *planes, size_t stride, size_t item_nbytes, size_t nitems, uint8_t *out) {
    size_t places[8]; /* of planes that are not there: any other */
    size_t i = 0;
    for (size_t k = 0; k < 8; k++)
        places[k] = stride * (k < item_nbytes ? k : 0);
    for (; i + 8 + 1 <= nitems; i += 8) {
        uint64_t rows[8];
        for (size_t k = 0; k < 8; k++)
            rows[k] = load64(planes + places[k] + i);
        transpose_bytes(rows);
        store_rows(out + i * item_nbytes, item_nbytes, rows);
    }
    return i;
}

/* Eight columns at a time; where the item is no multiple of eight, the last eight overlap those before them. */
static size_t long_items(const uint8_t *planes, size_t stride, size_t item_nbytes, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 8 <= nitems; i += 8) {
        for (size_t j = 0; j < item_nbytes; j += 8) {
            const size_t column = j + 8 <= item_nbytes ? j : item_nbytes - 8;
            uint64_t rows[8];
            load_rows(rows, planes + column * stride + i, stride);
            transpose_bytes(rows);
            store_rows(out + i * item_nbytes + column, item_nbytes, rows);
        }
    }
    return i;
}

static void bytes_any(const uint8_t *planes, size_t stride, size_t item_nbytes, size_t nitems, uint8_t *out) {
    size_t i = 0;
    if (item_nbytes == 3) {
        bytes3(planes, stride, nitems, out);
        return;
    }
    if (item_nbytes >= 8) {
        i = long_items(planes, stride, item_nbytes, nitems, out);
    } else if (item_nbytes > 4) {
        i = short_items(planes, stride, item_nbytes, nitems, out);
    }
    scatter_items(planes, stride, item_nbytes, i, nitems, out);
}

static void bytes8(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    bytes_any(planes, stride, 8, nitems, out);
}

static void bytes16(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    bytes_any(planes, stride, 16, nitems, out);
}

/* The bits of `group` as the lowest bit of eight bytes. Seven of them are spread by one product, whose terms do not
 * overlap; the eighth would. */
static VCZI_ALWAYS_INLINE uint64_t spread(uint8_t group) {
    const uint64_t seven = (uint64_t) (group & 0x7F) * UINT64_C(0x0002040810204081);
    return (seven & UINT64_C(0x0101010101010101)) | (uint64_t) (group >> 7) << 56;
}

static void bits(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    size_t g = 0;
    for (; g + 8 <= ngroups; g += 8) {
        uint64_t rows[8];
        load_rows(rows, planes + g, stride);
        transpose_bits(rows);  /* byte g of rows[i]: item 8 * g + i */
        transpose_bytes(rows); /* byte i of rows[g] */
        store_rows(out + 8 * g, 8, rows);
    }
    for (; g < ngroups; g++) {
        uint64_t items = 0;
        for (size_t k = 0; k < 8; k++)
            items |= spread(planes[k * stride + g]) << k;
        store64(out + 8 * g, items);
    }
}

/* The numbers of two bits that lie at bit `shift` of each byte. */
static VCZI_ALWAYS_INLINE uint64_t numbers(uint64_t words, int shift) {
    return words >> shift & UINT64_C(0x0303030303030303);
}

/* `high` is NULL where the numbers have one bit only. */
static VCZI_ALWAYS_INLINE void bits_few(const uint8_t *low, const uint8_t *high, size_t ngroups, uint8_t *out) {
    const uint64_t evens = UINT64_C(0x5555555555555555);
    size_t g = 0;
    for (; g + 8 <= ngroups; g += 8) {
        const uint64_t a = load64(low + g);
        const uint64_t b = high != NULL ? load64(high + g) : 0;
        const uint64_t even = (a & evens) | (b & evens) << 1; /* items 0, 2, 4, 6 of each group */
        const uint64_t odd = (a >> 1 & evens) | (b & ~evens); /* items 1, 3, 5, 7 */
        uint64_t rows[8] = {numbers(even, 0), numbers(odd, 0), numbers(even, 2), numbers(odd, 2),
                            numbers(even, 4), numbers(odd, 4), numbers(even, 6), numbers(odd, 6)};
        transpose_bytes(rows);
        store_rows(out + 8 * g, 8, rows);
    }
    for (; g < ngroups; g++) {
        uint64_t items = spread(low[g]);
        if (high != NULL) items |= spread(high[g]) << 1;
        store64(out + 8 * g, items);
    }
}

static void bits_one(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    (void) stride;
    bits_few(planes, NULL, ngroups, out);
}

static void bits_two(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    bits_few(planes, planes + stride, ngroups, out);
}

const vczi_unshuffle_kernels_t vczi_unshuffle_generic = {
    bytes2, bytes4, bytes8, bytes16, bytes_any, bits, bits_one, bits_two,
};

static const vczi_unshuffle_kernels_t *choose_kernels(void) {
    const uint32_t features = vczi_cpu_features();
#if VCZI_ARCH_X86
    if ((features & VCZI_CPU_AVX512) != 0) return &vczi_unshuffle_avx512;
    if ((features & VCZI_CPU_AVX2) != 0) return &vczi_unshuffle_avx2;
    if ((features & VCZI_CPU_SSE2) != 0) return &vczi_unshuffle_sse2;
#elif VCZI_ARCH_ARM64
    if ((features & VCZI_CPU_NEON) != 0) return &vczi_unshuffle_neon;
#else
    (void) features;
#endif
    return &vczi_unshuffle_generic;
}

static void unshuffle_bytes(const vczi_unshuffle_kernels_t *kernels, const uint8_t *planes, size_t stride,
                            size_t item_nbytes, size_t nitems, uint8_t *out) {
    switch (item_nbytes) {
        case 1:
            memcpy(out, planes, nitems);
            break;
        case 2:
            kernels->bytes2(planes, stride, nitems, out);
            break;
        case 4:
            kernels->bytes4(planes, stride, nitems, out);
            break;
        case 8:
            kernels->bytes8(planes, stride, nitems, out);
            break;
        case 16:
            kernels->bytes16(planes, stride, nitems, out);
            break;
        default:
            kernels->bytes_any(planes, stride, item_nbytes, nitems, out);
    }
}

void vczi_unshuffle_bytes(const uint8_t *planes, size_t nitems, size_t item_nbytes, size_t begin, size_t end,
                          uint8_t *out) {
    unshuffle_bytes(choose_kernels(), planes + begin, nitems, item_nbytes, end - begin, out);
}

static bool plane_is_constant(const uint8_t *plane, size_t nbytes) {
    return memcmp(plane, plane + 1, nbytes - 1) == 0;
}

/* How many of `nlive` planes are left when those at the top that are zero are taken away: genotypes need one or two.
 * This reads memory that is to be read anyway, and a plane that is not zero says so in its first bytes. */
static size_t count_live(const uint8_t *planes, size_t stride, size_t nlive, size_t ngroups) {
    while (nlive > 0) {
        const uint8_t *top = planes + (nlive - 1) * stride;
        if (top[0] != 0 || !plane_is_constant(top, ngroups)) break;
        nlive--;
    }
    return nlive;
}

/* One byte of each item; planes from `nlive` on are zero. */
static void unshuffle_bits(const vczi_unshuffle_kernels_t *kernels, const uint8_t *planes, size_t stride, size_t nlive,
                           size_t ngroups, uint8_t *out) {
    if (ngroups >= MIN_COUNTED_NGROUPS) nlive = count_live(planes, stride, nlive < 8 ? nlive : 8, ngroups);
    if (nlive == 0) {
        memset(out, 0, 8 * ngroups);
    } else if (nlive == 1 && planes[0] == UINT8_MAX && plane_is_constant(planes, ngroups)) {
        memset(out, 1, 8 * ngroups); /* flags that are all set */
    } else if (nlive == 1) {
        kernels->bits_one(planes, stride, ngroups, out);
    } else if (nlive == 2) {
        kernels->bits_two(planes, stride, ngroups, out);
    } else {
        kernels->bits(planes, stride, ngroups, out);
    }
}

/* Groups of eight items. */
static void unshuffle_groups(const vczi_unshuffle_kernels_t *kernels, const uint8_t *planes, size_t stride,
                             size_t item_nbytes, size_t nlive, size_t ngroups, uint8_t *out) {
    uint8_t tile[TILE_NBYTES];
    if (item_nbytes == 1) {
        unshuffle_bits(kernels, planes, stride, nlive, ngroups, out);
        return;
    }
    const size_t tile_ngroups = TILE_NBYTES / (8 * item_nbytes);
    for (size_t g = 0; g < ngroups; g += tile_ngroups) {
        const size_t n = ngroups - g < tile_ngroups ? ngroups - g : tile_ngroups;
        for (size_t j = 0; j < item_nbytes; j++) {
            const size_t nlive_of_byte = nlive > 8 * j ? nlive - 8 * j : 0;
            unshuffle_bits(kernels, planes + 8 * j * stride + g, stride, nlive_of_byte, n, tile + j * 8 * n);
        }
        unshuffle_bytes(kernels, tile, 8 * n, item_nbytes, 8 * n, out + 8 * g * item_nbytes);
    }
}

/* Items [begin, end) inside one group. */
static void unshuffle_within_group(const vczi_unshuffle_kernels_t *kernels, const uint8_t *planes, size_t stride,
                                   size_t item_nbytes, size_t nlive, size_t begin, size_t end, uint8_t *out) {
    uint8_t group[8 * UINT8_MAX];
    unshuffle_groups(kernels, planes + begin / 8, stride, item_nbytes, nlive, 1, group);
    memcpy(out, group + begin % 8 * item_nbytes, (end - begin) * item_nbytes);
}

void vczi_unshuffle_bits(const uint8_t *planes, size_t nitems, size_t item_nbytes, size_t nlive, size_t begin,
                         size_t end, uint8_t *out) {
    const vczi_unshuffle_kernels_t *kernels = choose_kernels();
    const size_t stride = nitems / 8;
    if (begin % 8 != 0) {
        const size_t border = (begin / 8 + 1) * 8;
        const size_t to = border < end ? border : end;
        unshuffle_within_group(kernels, planes, stride, item_nbytes, nlive, begin, to, out);
        out += (to - begin) * item_nbytes;
        begin = to;
    }
    const size_t ngroups = (end - begin) / 8;
    if (ngroups != 0) {
        unshuffle_groups(kernels, planes + begin / 8, stride, item_nbytes, nlive, ngroups, out);
        out += ngroups * 8 * item_nbytes;
        begin += ngroups * 8;
    }
    if (begin < end) unshuffle_within_group(kernels, planes, stride, item_nbytes, nlive, begin, end, out);
}
