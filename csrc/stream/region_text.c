/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "region_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "status.h"

#define SHOWN_NBYTES 100

static int shown(vczi_span_t text) {
    return text.nbytes > SHOWN_NBYTES ? SHOWN_NBYTES : (int) text.nbytes;
}

static vczi_span_t slice(vczi_span_t text, size_t start, size_t stop) {
    return vczi_span(text.data + start, stop - start);
}

static int64_t find_contig(const vczi_ids_t *contigs, vczi_span_t name) {
    int64_t contig = vczi_ids_find(contigs, name);
    if (contig < 0 && name.nbytes >= 2 && name.data[0] == '{' && name.data[name.nbytes - 1] == '}') {
        contig = vczi_ids_find(contigs, slice(name, 1, name.nbytes - 1));
    }
    return contig;
}

static bool is_digit(uint8_t letter) {
    return letter >= '0' && letter <= '9';
}

/* Digits from *at, alone or in groups of three with commas between them. */
static bool parse_number(vczi_span_t text, size_t *at, int64_t *number) {
    size_t i = *at, ngroup = 0;
    bool has_comma = false;
    int64_t value = 0;
    for (; i < text.nbytes; i++) {
        if (text.data[i] == ',') {
            if (has_comma ? ngroup != 3 : ngroup == 0 || ngroup > 3) {
                return false;
            }
            has_comma = true;
            ngroup = 0;
            continue;
        }
        if (!is_digit(text.data[i])) {
            break;
        }
        const int64_t digit = text.data[i] - '0';
        value = value > (VCZC_CONTIG_END - digit) / 10 ? VCZC_CONTIG_END : value * 10 + digit;
        ngroup++;
    }
    if (ngroup == 0 || (has_comma && ngroup != 3)) {
        return false;
    }
    *at = i;
    *number = value;
    return true;
}

/* pos, from- or from-to. */
static bool parse_span(vczi_span_t span, int64_t *start, int64_t *stop) {
    size_t at = 0;
    if (!parse_number(span, &at, start)) {
        return false;
    }
    *stop = *start;
    if (at == span.nbytes) {
        return true;
    }
    if (span.data[at++] != '-') {
        return false;
    }
    *stop = VCZC_CONTIG_END;
    return at == span.nbytes || (parse_number(span, &at, stop) && at == span.nbytes);
}

/* The name with "chr" before it, or without; empty where it is too long for any contig. */
static vczi_span_t other_name(vczi_span_t name, uint8_t *room) {
    if (name.nbytes > 3 && memcmp(name.data, "chr", 3) == 0) {
        return slice(name, 3, name.nbytes);
    }
    if (name.nbytes == 0 || name.nbytes > SHOWN_NBYTES) {
        return vczi_span(room, 0);
    }
    memcpy(room, "chr", 3);
    memcpy(room + 3, name.data, name.nbytes);
    return vczi_span(room, 3 + name.nbytes);
}

static int fail_contig(const vczi_ids_t *contigs, vczi_span_t name) {
    uint8_t room[3 + SHOWN_NBYTES];
    const vczi_span_t other = other_name(name, room);
    if (other.nbytes != 0 && vczi_ids_find(contigs, other) >= 0) {
        return vczi_fail(VCZC_ERR_NOT_FOUND, "there is no contig '%.*s'; did you mean '%.*s'?", shown(name),
                         (const char *) name.data, shown(other), (const char *) other.data);
    }
    return vczi_fail(VCZC_ERR_NOT_FOUND, "there is no contig '%.*s'", shown(name), (const char *) name.data);
}

static int parse_region(const vczi_ids_t *contigs, vczi_span_t text, vczc_interval_t *interval) {
    *interval = (vczc_interval_t){find_contig(contigs, text), 0, VCZC_CONTIG_END};
    if (interval->contig >= 0) {
        return 0;
    }
    size_t colon = text.nbytes;
    while (colon > 0 && text.data[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return fail_contig(contigs, text);
    }
    const vczi_span_t name = slice(text, 0, colon - 1), span = slice(text, colon, text.nbytes);
    const bool is_span = parse_span(span, &interval->start, &interval->stop);
    interval->contig = find_contig(contigs, name);
    if (interval->contig < 0) {
        return fail_contig(contigs, is_span ? name : text);
    }
    if (!is_span) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "'%.*s' of the region '%.*s' is not pos, from- or from-to", shown(span),
                         (const char *) span.data, shown(text), (const char *) text.data);
    }
    if (interval->start > interval->stop) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "the region '%.*s' ends before it begins", shown(text),
                         (const char *) text.data);
    }
    return 0;
}

int vczi_region_parse(const vczi_ids_t *contigs, vczi_span_t text, vczc_interval_t *interval) {
    const int ret = parse_region(contigs, text, interval);
    if (ret != 0) {
        *interval = (vczc_interval_t){0, 0, 0};
    }
    return ret;
}

/* There is room for as many as the power of two that is not below *nintervals. */
static int append(vczc_interval_t **intervals, size_t *nintervals, vczc_interval_t interval) {
    const size_t n = *nintervals;
    if ((n & (n - 1)) == 0) {
        vczc_interval_t *grown = vczi_realloc(*intervals, n == 0 ? 1 : 2 * n, sizeof(*grown));
        if (grown == NULL) {
            return VCZC_ERR_NO_MEMORY;
        }
        *intervals = grown;
    }
    (*intervals)[(*nintervals)++] = interval;
    return 0;
}

/* Whole first, for a name or a number may hold commas; the failure that is told is that of the whole, or of the first
 * part whose contig is not there. */
int vczi_region_parse_all(const vczi_ids_t *contigs, const char *text, vczc_interval_t **intervals,
                          size_t *nintervals) {
    const vczi_span_t whole = vczi_span(text, strlen(text));
    vczc_interval_t interval;
    vczi_detail_t detail;
    const int failure = vczi_region_parse(contigs, whole, &interval);
    if (failure == 0) {
        return append(intervals, nintervals, interval);
    }
    if (strchr(text, ',') == NULL) {
        return failure;
    }
    vczi_detail_save(&detail);
    for (size_t start = 0; start <= whole.nbytes;) {
        size_t stop = start;
        while (stop < whole.nbytes && whole.data[stop] != ',') {
            stop++;
        }
        int ret = vczi_region_parse(contigs, slice(whole, start, stop), &interval);
        if (ret == VCZC_ERR_ARGUMENT || (ret == VCZC_ERR_NOT_FOUND && (failure != ret || start == stop))) {
            vczi_detail_restore(&detail);
            return failure;
        }
        if (ret == 0) {
            ret = append(intervals, nintervals, interval);
        }
        if (ret != 0) {
            return ret;
        }
        start = stop + 1;
    }
    return 0;
}

static int compare(const void *a, const void *b) {
    const vczc_interval_t *x = a, *y = b;
    if (x->contig != y->contig) {
        return x->contig < y->contig ? -1 : 1;
    }
    return x->start < y->start ? -1 : x->start > y->start;
}

size_t vczi_intervals_join(vczc_interval_t *intervals, size_t nintervals) {
    size_t n = 0;
    if (nintervals > 1) {
        qsort(intervals, nintervals, sizeof(*intervals), compare);
    }
    for (size_t i = 0; i < nintervals; i++) {
        vczc_interval_t *last = n == 0 ? NULL : &intervals[n - 1];
        if (last != NULL && last->contig == intervals[i].contig && intervals[i].start <= last->stop + 1) {
            last->stop = last->stop > intervals[i].stop ? last->stop : intervals[i].stop;
        } else {
            intervals[n++] = intervals[i];
        }
    }
    return n;
}
