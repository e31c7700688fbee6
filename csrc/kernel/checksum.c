/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "checksum.h"

/* Words between two foldings. Before them the first sum is at most 0xFFFF + 0x1FF (folded, of less than 2^25), and the
 * second at most 0x1FFFE: 360 * 0x101FE + 0xFFFF * 360 * 361 / 2 + 0x1FFFE < 2^32. */
#define FLETCHER_NWORDS 360

/* Modulo 0xFFFF, in ones' complement: 0xFFFF does not become 0. Twice makes it 16 bits. */
static uint32_t fold(uint32_t sum) {
    return (sum & 0xFFFF) + (sum >> 16);
}

uint32_t vczi_fletcher32(vczi_span_t in) {
    const size_t nwords = in.nbytes / 2;
    uint32_t sum1 = 0, sum2 = 0;
    for (size_t done = 0; done < nwords; done += FLETCHER_NWORDS) {
        const size_t end = nwords - done < FLETCHER_NWORDS ? nwords : done + FLETCHER_NWORDS;
        for (size_t i = done; i < end; i++) {
            sum1 += (uint32_t) in.data[2 * i] << 8 | in.data[2 * i + 1];
            sum2 += sum1;
        }
        sum1 = fold(sum1);
        sum2 = fold(sum2);
    }
    if (in.nbytes % 2 != 0) {
        sum1 = fold(sum1 + ((uint32_t) in.data[in.nbytes - 1] << 8));
        sum2 = fold(sum2 + sum1);
    }
    return fold(sum2) << 16 | fold(sum1);
}

/* ---- lookup3 ---- */

typedef struct {
    uint32_t a, b, c;
} lookup3_t;

static uint32_t rotate(uint32_t x, int nbits) {
    return x << nbits | x >> (32 - nbits);
}

/* Turn the roles: x is reduced by z, takes in z turned, and z takes in y. */
static void mix_step(uint32_t *x, uint32_t y, uint32_t *z, int nbits) {
    *x = (*x - *z) ^ rotate(*z, nbits);
    *z += y;
}

static void mix(lookup3_t *s) {
    mix_step(&s->a, s->b, &s->c, 4);
    mix_step(&s->b, s->c, &s->a, 6);
    mix_step(&s->c, s->a, &s->b, 8);
    mix_step(&s->a, s->b, &s->c, 16);
    mix_step(&s->b, s->c, &s->a, 19);
    mix_step(&s->c, s->a, &s->b, 4);
}

static uint32_t final_step(uint32_t x, uint32_t y, int nbits) {
    return (x ^ y) - rotate(y, nbits);
}

static uint32_t finish(lookup3_t *s) {
    s->c = final_step(s->c, s->b, 14);
    s->a = final_step(s->a, s->c, 11);
    s->b = final_step(s->b, s->a, 25);
    s->c = final_step(s->c, s->b, 16);
    s->a = final_step(s->a, s->c, 4);
    s->b = final_step(s->b, s->a, 14);
    return final_step(s->c, s->b, 24);
}

static void take_in(lookup3_t *s, const uint8_t *twelve) {
    s->a += vczi_load_u32le(twelve);
    s->b += vczi_load_u32le(twelve + 4);
    s->c += vczi_load_u32le(twelve + 8);
}

uint32_t vczi_lookup3(vczi_span_t in, uint32_t seed) {
    const uint32_t start = 0xDEADBEEFu + (uint32_t) (in.nbytes & 0xFFFFFFFFu) + seed;
    lookup3_t s = {start, start, start};
    uint8_t last[12] = {0};
    if (in.nbytes == 0) {
        return start;
    }
    size_t done = 0;
    for (; in.nbytes - done > 12; done += 12) {
        take_in(&s, in.data + done);
        mix(&s);
    }
    memcpy(last, in.data + done, in.nbytes - done);
    take_in(&s, last);
    return finish(&s);
}
