/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Times the decoding of Blosc frames, ours beside c-blosc's blosc_decompress_ctx: one thread, into memory that is
 * warm, in turns, after both have given the same bytes.
 *
 *     kernels [-t TURNS] FILE...
 *
 * Each FILE is one frame: a chunk of a Zarr store whose compressor is Blosc. Processor time, median of the turns. */
#include <blosc.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "bytes.h"
#include "cpu.h"
#include "scratch.h"
#include "status.h"
#include "unblosc.h"

#define HUGE_PAGE_NBYTES ((size_t) 2 << 20)
#define MAX_TURNS 1001

typedef struct {
    vczi_span_t stored;
    size_t raw_nbytes;
    uint8_t *out;
    uint8_t *expected;
    vczi_scratch_t *scratch;
} task_t;

static double now(void) {
#ifdef _WIN32
    return (double) clock() / CLOCKS_PER_SEC;
#else
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
#endif
}

/* Memory in huge pages where that can be asked for, each page touched: faults are not what is timed. */
static uint8_t *warm_memory(size_t nbytes, int byte) {
    const size_t rounded = (nbytes + HUGE_PAGE_NBYTES) / HUGE_PAGE_NBYTES * HUGE_PAGE_NBYTES;
#ifdef __linux__
    void *memory = aligned_alloc(HUGE_PAGE_NBYTES, rounded);
    if (memory != NULL) {
        (void) madvise(memory, rounded, MADV_HUGEPAGE);
    }
#else
    void *memory = malloc(rounded);
#endif
    if (memory == NULL) {
        perror("memory");
        exit(1);
    }
    memset(memory, byte, rounded);
    return memory;
}

static vczi_span_t read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(1);
    }
    const long nbytes = ftell(file);
    rewind(file);
    uint8_t *data = malloc(nbytes > 0 ? (size_t) nbytes : 1);
    if (data == NULL || fread(data, 1, (size_t) nbytes, file) != (size_t) nbytes) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return vczi_span(data, (size_t) nbytes);
}

static double time_ours(const task_t *task) {
    vczi_frame_t frame;
    const double begin = now();
    int ret = vczi_frame_init(&frame, task->stored, task->raw_nbytes);
    if (ret == 0) {
        ret = vczi_frame_decode(&frame, 0, task->raw_nbytes, task->out, task->scratch);
    }
    const double seconds = now() - begin;
    if (ret != 0) {
        fprintf(stderr, "vczc: %s\n", vczi_detail_view()->reason);
        exit(1);
    }
    return seconds;
}

static double time_c_blosc(const task_t *task, uint8_t *out) {
    const double begin = now();
    const int ret = blosc_decompress_ctx(task->stored.data, out, task->raw_nbytes, 1);
    const double seconds = now() - begin;
    if (ret < 0 || (size_t) ret != task->raw_nbytes) {
        fprintf(stderr, "c-blosc: %d\n", ret);
        exit(1);
    }
    return seconds;
}

static int compare(const void *a, const void *b) {
    const double left = *(const double *) a;
    const double right = *(const double *) b;
    return (left > right) - (left < right);
}

static double median(double *seconds, int n) {
    qsort(seconds, (size_t) n, sizeof(*seconds), compare);
    return seconds[n / 2];
}

static int bench(const char *path, int nturns) {
    static double ours[MAX_TURNS];
    static double theirs[MAX_TURNS];
    task_t task;
    task.stored = read_file(path);
    if (task.stored.nbytes < BLOSC_MIN_HEADER_LENGTH) {
        fprintf(stderr, "%s: no Blosc frame\n", path);
        return 1;
    }
    task.raw_nbytes = vczi_load_u32le(task.stored.data + 4);
    task.out = warm_memory(task.raw_nbytes, 0xAA);
    task.expected = warm_memory(task.raw_nbytes, 0x55);
    task.scratch = vczi_scratch_borrow();
    (void) time_c_blosc(&task, task.expected);
    (void) time_ours(&task);
    const int differs = memcmp(task.out, task.expected, task.raw_nbytes) != 0;
    for (int i = 0; i < nturns && !differs; i++) {
        ours[i] = time_ours(&task);
        theirs[i] = time_c_blosc(&task, task.out);
    }
    if (differs) {
        printf("%s: the bytes differ\n", path);
    } else {
        const double raw = (double) task.raw_nbytes;
        const double our_time = median(ours, nturns);
        const double their_time = median(theirs, nturns);
        printf("%-8s %7.2f:1  vczc %9.1f us %6.2f GB/s  c-blosc %9.1f us %6.2f GB/s  %5.2f x  %s\n", vczi_cpu_level(),
               raw / (double) task.stored.nbytes, 1e6 * our_time, 1e-9 * raw / our_time, 1e6 * their_time,
               1e-9 * raw / their_time, their_time / our_time, path);
    }
    vczi_scratch_return(task.scratch);
    free(task.out);
    free(task.expected);
    free((void *) (uintptr_t) task.stored.data);
    return differs;
}

int main(int argc, char **argv) {
    int nturns = 31;
    int failed = 0;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "-t") == 0) {
        nturns = atoi(argv[2]);
        first = 3;
    }
    if (first >= argc || nturns < 1 || nturns > MAX_TURNS) {
        fprintf(stderr, "usage: %s [-t TURNS] FILE...\n", argv[0]);
        return 2;
    }
    for (int i = first; i < argc; i++) {
        failed |= bench(argv[i], nturns);
    }
    return failed;
}
