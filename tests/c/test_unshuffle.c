/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Every kernel that this processor has, beside the definition: each length, item size and misalignment. */
#include "unshuffle.h"

#include "check.h"
#include "cpu.h"
#include "unshuffle_kernels.h"

static const vczi_unshuffle_kernels_t *kernels[5];
static const char *kernel_names[5];
static int nkernels;

static void add_kernels(const vczi_unshuffle_kernels_t *set, const char *name) {
    kernels[nkernels] = set;
    kernel_names[nkernels] = name;
    nkernels++;
}

static void find_kernels(void) {
    const uint32_t features = vczi_cpu_features();
    (void) features;
    add_kernels(&vczi_unshuffle_generic, "generic");
#if VCZI_ARCH_X86
    if ((features & VCZI_CPU_SSE2) != 0) add_kernels(&vczi_unshuffle_sse2, "sse2");
    if ((features & VCZI_CPU_AVX2) != 0) add_kernels(&vczi_unshuffle_avx2, "avx2");
    if ((features & VCZI_CPU_AVX512) != 0) add_kernels(&vczi_unshuffle_avx512, "avx512");
#endif
#if VCZI_ARCH_ARM64
    if ((features & VCZI_CPU_NEON) != 0) add_kernels(&vczi_unshuffle_neon, "neon");
#endif
}

enum { PLACE_IN, PLACE_LIVE, PLACE_OUT, NPLACES };
#include "guarded.h"

static uint32_t next_random(void) {
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void fill_random(uint8_t *data, size_t nbytes, uint32_t seed) {
    for (size_t i = 0; i < nbytes; i++) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = (uint8_t) (seed >> 24);
    }
}

static void bytes_by_definition(const uint8_t *planes, size_t nitems, size_t item_nbytes, uint8_t *out) {
    for (size_t i = 0; i < nitems; i++) {
        for (size_t j = 0; j < item_nbytes; j++)
            out[i * item_nbytes + j] = planes[j * nitems + i];
    }
}

static void bits_by_definition(const uint8_t *planes, size_t nitems, size_t item_nbytes, uint8_t *out) {
    memset(out, 0, nitems * item_nbytes);
    for (size_t i = 0; i < nitems; i++) {
        for (size_t bit = 0; bit < 8 * item_nbytes; bit++) {
            const unsigned is_set = (unsigned) planes[bit * (nitems / 8) + i / 8] >> (i % 8) & 1u;
            out[i * item_nbytes + bit / 8] |= (uint8_t) (is_set << (bit % 8));
        }
    }
}

static vczi_unshuffle_fn *byte_kernel(const vczi_unshuffle_kernels_t *set, size_t item_nbytes) {
    switch (item_nbytes) {
        case 2:
            return set->bytes2;
        case 4:
            return set->bytes4;
        case 8:
            return set->bytes8;
        case 16:
            return set->bytes16;
        default:
            return NULL;
    }
}

static uint8_t expected[PLACE_NBYTES];

/* One size on all kernels; false at the first that is wrong, which has been said. */
static bool check_bytes(size_t item_nbytes, size_t nitems, size_t shift) {
    const size_t nbytes = item_nbytes * nitems;
    const block_t in = block_at(PLACE_IN, nbytes, shift);
    fill_random(in.data, nbytes, (uint32_t) nbytes);
    bytes_by_definition(in.data, nitems, item_nbytes, expected);
    for (int k = 0; k < nkernels; k++) {
        for (int any = 0; any < 2; any++) {
            vczi_unshuffle_fn *kernel = byte_kernel(kernels[k], item_nbytes);
            const block_t out = block_at(PLACE_OUT, nbytes, shift * 2);
            if (any == 0 && kernel == NULL) continue;
            if (any != 0) {
                kernels[k]->bytes_any(in.data, nitems, item_nbytes, nitems, out.data);
            } else {
                kernel(in.data, nitems, nitems, out.data);
            }
            if (!CHECK_MEM(out.data, expected, nbytes) || !CHECK(block_is_sound(&out))) {
                fprintf(stderr, "    %s: %zu items of %zu bytes\n", kernel_names[k], nitems, item_nbytes);
                return false;
            }
        }
    }
    return true;
}

static void test_byte_kernels(void) {
    static const size_t shifts[] = {0, 1, 7};
    for (size_t item_nbytes = 2; item_nbytes <= 17; item_nbytes++) {
        for (size_t nitems = 0; nitems <= 300; nitems++) {
            for (size_t s = 0; s < 3; s++) {
                if (!check_bytes(item_nbytes, nitems, shifts[s])) return;
            }
        }
    }
}

static void test_large_items(void) {
    static const size_t sizes[] = {23, 24, 40, 64, 100, 127, 128, 254, 255};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        for (size_t nitems = 0; nitems <= 70; nitems++) {
            if (!check_bytes(sizes[s], nitems, s % 3)) return;
        }
    }
}

/* `nlive` planes, which end where a kernel may no longer read. */
static bool check_bits(size_t nlive, size_t ngroups, size_t shift) {
    static uint8_t planes[PLACE_NBYTES];
    const size_t nbytes = 8 * ngroups;
    memset(planes, 0, nbytes);
    fill_random(planes, nlive * ngroups, (uint32_t) ngroups + 1);
    bits_by_definition(planes, nbytes, 1, expected);
    const block_t live = block_at(PLACE_LIVE, nlive * ngroups, shift);
    memcpy(live.data, planes, live.nbytes);
    for (int k = 0; k < nkernels; k++) {
        const vczi_unshuffle_kernels_t *set = kernels[k];
        vczi_unshuffle_fn *kernel = nlive == 1 ? set->bits_one : nlive == 2 ? set->bits_two : set->bits;
        const block_t out = block_at(PLACE_OUT, nbytes, shift * 2);
        kernel(live.data, ngroups, ngroups, out.data);
        if (!CHECK_MEM(out.data, expected, nbytes) || !CHECK(block_is_sound(&out))) {
            fprintf(stderr, "    %s: %zu planes, %zu groups\n", kernel_names[k], nlive, ngroups);
            return false;
        }
    }
    return true;
}

static void test_bit_kernels(void) {
    static const size_t nlives[] = {1, 2, 8};
    for (size_t ngroups = 0; ngroups <= 300; ngroups++) {
        for (size_t n = 0; n < 3; n++) {
            for (size_t shift = 0; shift < 3; shift++) {
                if (!check_bits(nlives[n], ngroups, 5 * shift)) return;
            }
        }
    }
}

/* The chosen kernels on items [begin, end) of a block. */
static bool check_range(const block_t *in, bool is_bits, size_t item_nbytes, size_t nlive, size_t begin, size_t end) {
    const size_t nitems = in->nbytes / item_nbytes;
    const size_t nbytes = (end - begin) * item_nbytes;
    const block_t out = block_at(PLACE_OUT, nbytes, begin % 3);
    if (is_bits) {
        vczi_unshuffle_bits(in->data, nitems, item_nbytes, nlive, begin, end, out.data);
    } else {
        vczi_unshuffle_bytes(in->data, nitems, item_nbytes, begin, end, out.data);
    }
    if (CHECK_MEM(out.data, expected + begin * item_nbytes, nbytes) && CHECK(block_is_sound(&out))) return true;
    fprintf(stderr, "    %s: items [%zu, %zu) of %zu of %zu bytes, %zu planes\n", is_bits ? "bits" : "bytes", begin,
            end, nitems, item_nbytes, nlive);
    return false;
}

static bool check_ranges(const block_t *in, bool is_bits, size_t item_nbytes, size_t nlive) {
    const size_t nitems = in->nbytes / item_nbytes;
    if (is_bits) {
        bits_by_definition(in->data, nitems, item_nbytes, expected);
    } else {
        bytes_by_definition(in->data, nitems, item_nbytes, expected);
    }
    if (!check_range(in, is_bits, item_nbytes, nlive, 0, nitems)) return false;
    for (size_t turn = 0; turn < 60; turn++) {
        const size_t begin = next_random() % (nitems + 1);
        const size_t left = nitems - begin;
        const size_t wanted = next_random() % (turn % 2 == 0 ? left + 1 : left / 8 + 1);
        if (!check_range(in, is_bits, item_nbytes, nlive, begin, begin + wanted)) return false;
    }
    return true;
}

static void test_ranges_of_bytes(void) {
    for (size_t item_nbytes = 1; item_nbytes <= 17; item_nbytes++) {
        for (size_t nitems = 1; nitems <= 400; nitems += 19) {
            const block_t in = block_at(PLACE_IN, nitems * item_nbytes, 0);
            fill_random(in.data, in.nbytes, 7);
            if (!check_ranges(&in, false, item_nbytes, 0)) return;
        }
    }
}

/* Planes from `nlive` on are zero, whether the call is told so or finds out; the first is sometimes constant too. */
static void test_ranges_of_bits(void) {
    for (size_t item_nbytes = 1; item_nbytes <= 17; item_nbytes++) {
        for (size_t nitems = 8; nitems <= 3000; nitems = nitems * 3 / 2 / 8 * 8 + 8) {
            for (size_t nlive = 0; nlive <= 8 * item_nbytes; nlive += nlive < 10 ? 1 : 13) {
                const block_t in = block_at(PLACE_IN, nitems * item_nbytes, 0);
                memset(in.data, 0, in.nbytes);
                fill_random(in.data, nlive * (nitems / 8), (uint32_t) nitems);
                if (nlive > 0 && nitems % 16 == 0) memset(in.data, nitems % 32 == 0 ? 0xFF : 0x11, nitems / 8);
                if (!check_ranges(&in, true, item_nbytes, 8 * item_nbytes)) return;
                if (nlive <= VCZI_UNSHUFFLE_MAX_NLIVE && !check_ranges(&in, true, item_nbytes, nlive)) return;
            }
        }
    }
}

/* Planes that are told to be zero are not read: here they hold something else. */
static void test_dead_planes_are_not_read(void) {
    enum { NITEMS = 1600 };
    static uint8_t planes[4 * NITEMS];
    static uint8_t out[4 * NITEMS];
    for (size_t item_nbytes = 1; item_nbytes <= 4; item_nbytes++) {
        for (size_t nlive = 0; nlive <= VCZI_UNSHUFFLE_MAX_NLIVE; nlive++) {
            memset(planes, 0x5A, sizeof(planes));
            vczi_unshuffle_bits(planes, NITEMS, item_nbytes, nlive, 0, NITEMS, out);
            unsigned all = 0;
            for (size_t i = 0; i < NITEMS * item_nbytes; i++) {
                all |= i % item_nbytes == 0 ? (unsigned) out[i] : (unsigned) out[i] << 8;
            }
            CHECK_EQ(all, (1 << nlive) - 1);
        }
    }
}

int main(void) {
    find_kernels();
    make_places();
    RUN(test_byte_kernels);
    RUN(test_large_items);
    RUN(test_bit_kernels);
    RUN(test_ranges_of_bytes);
    RUN(test_ranges_of_bits);
    RUN(test_dead_planes_are_not_read);
    return check_result();
}
