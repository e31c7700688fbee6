/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* vczc_trim: nothing is left when nothing is in use, and what is in use goes on. All memory is counted. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifdef __linux__
#include <dirent.h>
#endif

#include <blosc.h>

#include "account.h"
#include "atomic.h"
#include "check.h"
#include "forking.h"
#include "pages.h"
#include "thread.h"
#include "vczc.h"

enum { NCHUNKS = 40, CHUNK = 3000, NITEMS = NCHUNKS * CHUNK, NTHREADS = 4 };

static uint8_t values[NITEMS];
static uint8_t stored[NCHUNKS][CHUNK + BLOSC_MAX_OVERHEAD];
static size_t stored_nbytes[NCHUNKS];

static void store_values(void) {
    for (int i = 0; i < NITEMS; i++)
        values[i] = (uint8_t) (i % 251);
    for (int c = 0; c < NCHUNKS; c++) {
        const int nbytes = blosc_compress_ctx(5, BLOSC_SHUFFLE, 1, CHUNK, values + c * CHUNK, stored[c],
                                              sizeof(stored[c]), c % 2 == 0 ? "zstd" : "lz4", 0, 1);
        CHECK(nbytes > 0);
        stored_nbytes[c] = (size_t) nbytes;
    }
}

/* ---- A store on callbacks, as one of them may call the library ---- */

static int get_chunk(void *user, const char *key, uint64_t offset, size_t nbytes, const void **data,
                     size_t *data_nbytes, void **pin) {
    static const char document[] = "{\"zarr_format\": 2, \"shape\": [120000], \"chunks\": [3000], \"dtype\": \"|u1\", "
                                   "\"compressor\": {\"id\": \"blosc\"}, \"filters\": null, \"fill_value\": 0, "
                                   "\"order\": \"C\"}";
    const int *trims = user;
    int chunk = -1;
    const char *text = document;
    size_t size = sizeof(document) - 1;
    if (sscanf(key, "x/%d", &chunk) == 1 && chunk >= 0 && chunk < NCHUNKS) {
        text = (const char *) stored[chunk];
        size = stored_nbytes[chunk];
        if (trims != NULL) vczc_trim();
    } else if (strcmp(key, "x/.zarray") != 0) {
        return VCZC_ERR_NOT_FOUND;
    }
    *pin = NULL;
    *data = text + (offset < size ? offset : size);
    *data_nbytes = offset >= size ? 0 : nbytes < size - offset ? nbytes : (size_t) (size - offset);
    return 0;
}

static vczc_array_t *open_values(int *trims) {
    vczc_callbacks_t callbacks = {sizeof(callbacks), get_chunk, NULL, NULL, NULL, NULL, 0, NULL};
    vczc_store_t *store = NULL;
    vczc_array_t *array = NULL;
    if (vczc_store_open_callbacks(&store, &callbacks, trims, "values") == 0) {
        (void) vczc_array_open(&array, store, "x");
    }
    vczc_store_close(store);
    return array;
}

/* How many items of a reading with `nthreads` are wrong; `out` has NITEMS. */
static int read_wrong(const vczc_array_t *array, int nthreads, uint8_t *out) {
    const int64_t start = 0, stop = NITEMS, stride = 1;
    const vczc_selection_t selection = {&start, &stop, NULL, nthreads};
    memset(out, 0xEE, NITEMS);
    if (vczc_array_read_selection(array, &selection, out, &stride) != 0) return NITEMS;
    int nwrong = 0;
    for (int i = 0; i < NITEMS; i++)
        nwrong += out[i] != values[i];
    return nwrong;
}

/* A small request too, of which the array keeps what it decompressed. */
static int use_array(int *trims) {
    uint8_t out[NITEMS];
    const int64_t start = 7, stop = 8, stride = 1;
    vczc_array_t *array = open_values(trims);
    int nwrong = array == NULL ? 1 : read_wrong(array, NTHREADS, out);
    if (array != NULL) {
        nwrong += vczc_array_read_region(array, &start, &stop, out, &stride) != 0 || out[0] != values[7];
    }
    vczc_array_close(array);
    return nwrong;
}

static long outstanding(void) {
    return atomic_load(&account.nblocks);
}

/* Of this process; -1 where the system does not say it so. */
static int count_threads(void) {
    int nthreads = -1;
#ifdef __linux__
    DIR *folder = opendir("/proc/self/task");
    if (folder != NULL) {
        nthreads = 0;
        for (const struct dirent *one = readdir(folder); one != NULL; one = readdir(folder))
            nthreads += one->d_name[0] != '.';
        (void) closedir(folder);
    }
#endif
    return nthreads;
}

/* The system lists a thread for a moment after it has been joined. */
static int wait_for_threads(int nexpected) {
    int nthreads = count_threads();
    for (int i = 0; nthreads != nexpected && i < 20000; i++) {
        nthreads = count_threads();
    }
    return nthreads;
}

static void do_nothing(void *unused) {
    (void) unused;
}

/* ---- Tests ---- */

static void it_may_be_the_first_call(void) {
    vczc_trim();
    vczc_trim();
    CHECK_EQ(vczc_set_allocator(&account_allocator), 0); /* it has taken nothing */
    CHECK_EQ(outstanding(), 0);
}

static void nothing_is_left(void) {
    vczi_thread_t first;
    CHECK_EQ(vczi_thread_start(&first, do_nothing, NULL), 0); /* a thread sanitizer then starts one of its own */
    vczi_thread_join(&first);
    const int nthreads = wait_for_threads(1);
    for (int round = 0; round < 20; round++) {
        CHECK_EQ(use_array(NULL), 0);
        if (round == 0) {
            CHECK(outstanding() > 0);
            CHECK(nthreads < 0 || count_threads() > nthreads);
        }
        vczc_trim();
        CHECK_EQ(outstanding(), 0);
        CHECK_EQ(wait_for_threads(nthreads), nthreads);
        if (round % 2 == 0) vczc_trim();
        CHECK_EQ(outstanding(), 0);
    }
}

static void the_last_failure_stays(void) {
    vczc_store_t *store = NULL;
    CHECK_EQ(vczc_store_open(&store, "no such place", 0), VCZC_ERR_NOT_FOUND);
    vczc_trim();
    CHECK(strstr(vczc_error_detail(), "no such place") != NULL);
}

static void open_handles_go_on(void) {
    static uint8_t out[NITEMS];
    vczc_array_t *array = open_values(NULL);
    REQUIRE(array != NULL);
    for (int round = 0; round < 10; round++) {
        CHECK_EQ(read_wrong(array, NTHREADS, out), 0);
        vczc_trim();
        CHECK(outstanding() > 0);
    }
    vczc_array_close(array);
    CHECK_EQ(outstanding(), 0);
}

static void kept_buffers_go_back(void) {
    const size_t nbytes = (size_t) 3 << 20;
    for (int round = 0; round < 3; round++) {
        void *buffer = vczc_buffer_alloc(nbytes);
        void *held = vczc_buffer_alloc(nbytes);
        REQUIRE(buffer != NULL && held != NULL);
        vczc_buffer_free(buffer, nbytes);
        CHECK(vczi_pages_kept() >= nbytes); /* the bound is as it was */
        vczc_trim();
        CHECK_EQ(vczi_pages_kept(), 0);
        memset(held, 1, nbytes);
        vczc_buffer_free(held, nbytes);
        vczc_trim();
        CHECK_EQ(vczi_pages_kept(), 0);
    }
}

/* A thread of the embedder's, which decodes when it is told, and lives on. */
typedef struct {
    vczi_mutex_t mutex;
    vczi_cond_t changed;
    int nasked, ndone, nwrong;
    bool ends;
} decoder_t;

static void decode_when_asked(void *user) {
    decoder_t *decoder = user;
    vczi_mutex_lock(&decoder->mutex);
    while (!decoder->ends) {
        if (decoder->ndone == decoder->nasked) {
            vczi_cond_wait(&decoder->changed, &decoder->mutex);
            continue;
        }
        decoder->nwrong += use_array(NULL);
        decoder->ndone++;
        vczi_cond_broadcast(&decoder->changed);
    }
    vczi_mutex_unlock(&decoder->mutex);
}

static void ask(decoder_t *decoder) {
    vczi_mutex_lock(&decoder->mutex);
    decoder->nasked++;
    vczi_cond_broadcast(&decoder->changed);
    while (decoder->ndone != decoder->nasked) {
        vczi_cond_wait(&decoder->changed, &decoder->mutex);
    }
    vczi_mutex_unlock(&decoder->mutex);
}

static void end(decoder_t *decoder) {
    vczi_mutex_lock(&decoder->mutex);
    decoder->ends = true;
    vczi_cond_broadcast(&decoder->changed);
    vczi_mutex_unlock(&decoder->mutex);
}

static void what_live_threads_keep_goes_too(void) {
    for (int last_trim = 0; last_trim < 2; last_trim++) {
        decoder_t decoder = {VCZI_MUTEX_INIT, VCZI_COND_INIT, 0, 0, 0, false};
        vczi_thread_t thread;
        const long before = outstanding();
        vczi_thread_start(&thread, decode_when_asked, &decoder);
        for (int round = 0; round < 3; round++) {
            ask(&decoder);
            CHECK(outstanding() > before);
            vczc_trim();
            CHECK_EQ(outstanding(), 0); /* not a byte of the thread's, which waits */
        }
        ask(&decoder);
        if (last_trim != 0) vczc_trim();
        end(&decoder);
        vczi_thread_join(&thread);
        CHECK_EQ(decoder.nwrong, 0);
        vczc_trim();
        CHECK_EQ(outstanding(), 0);
    }
}

/* What a thread keeps goes with it also where nobody trims. */
static void what_ended_threads_kept_is_gone(void) {
    enum { NROUNDS = 300 }; /* more than there are places */
    vczc_trim();
    vczc_set_threads(1);
    for (int round = 0; round < NROUNDS; round++) {
        decoder_t decoder = {VCZI_MUTEX_INIT, VCZI_COND_INIT, 0, 0, 0, false};
        vczi_thread_t thread;
        vczi_thread_start(&thread, decode_when_asked, &decoder);
        if (round % 10 == 0) ask(&decoder);
        end(&decoder);
        vczi_thread_join(&thread);
    }
    vczc_set_threads(0);
    vczc_trim();
    CHECK_EQ(outstanding(), 0);
}

static void it_may_be_called_by_a_callback(void) {
    int trims = 1;
    for (int round = 0; round < 5; round++) {
        CHECK_EQ(use_array(&trims), 0);
    }
    vczc_trim();
    CHECK_EQ(outstanding(), 0);
}

static vczi_atomic_t is_stopped;

static void decode_until_stopped(void *user) {
    vczi_atomic_t *nwrong = user;
    while (vczi_atomic_load(&is_stopped) == 0) {
        (void) vczi_atomic_add(nwrong, use_array(NULL));
    }
}

static void trim_until_stopped(void *user) {
    (void) user;
    while (vczi_atomic_load(&is_stopped) == 0) {
        vczc_trim();
    }
}

/* `use` gives 0 each time while `ndecoding` threads decode and two trim; nothing is left at the end. */
static void use_meanwhile(int ndecoding, int nrounds, int (*use)(void)) {
    vczi_thread_t threads[5];
    vczi_atomic_t nwrong;
    vczi_atomic_store(&nwrong, 0);
    vczi_atomic_store(&is_stopped, 0);
    for (int i = 0; i < ndecoding + 2; i++) {
        CHECK_EQ(vczi_thread_start(&threads[i], i < ndecoding ? decode_until_stopped : trim_until_stopped, &nwrong), 0);
    }
    for (int round = 0; round < nrounds; round++) {
        CHECK_EQ(use(), 0);
    }
    vczi_atomic_store(&is_stopped, 1);
    for (int i = 0; i < ndecoding + 2; i++) {
        vczi_thread_join(&threads[i]);
    }
    CHECK_EQ(vczi_atomic_load(&nwrong), 0);
    vczc_trim();
    CHECK_EQ(outstanding(), 0);
}

static int use_here(void) {
    return use_array(NULL);
}

static void others_decode_meanwhile(void) {
    use_meanwhile(3, 60, use_here);
}

#if !defined(_WIN32) && CAN_FORK_AMONG_THREADS
/* 0 where a child that trims has what it needs, and nothing in the end. */
static int trim_in_child(const char *first) {
    if (first != NULL) vczc_trim();
    int nwrong = use_array(NULL);
    vczc_trim();
    nwrong += outstanding() != 0;
    nwrong += use_array(NULL);
    vczc_trim();
    return nwrong + (outstanding() != 0);
}

static void a_child_may_trim(void) {
    decoder_t decoder = {VCZI_MUTEX_INIT, VCZI_COND_INIT, 0, 0, 0, false};
    vczi_thread_t thread;
    CHECK_EQ(vczi_thread_start(&thread, decode_when_asked, &decoder), 0);
    for (int round = 0; round < 5; round++) {
        ask(&decoder); /* the child has what this thread keeps, and not the thread */
        CHECK_EQ(use_array(NULL), 0);
        CHECK_EQ(in_child(trim_in_child, round % 2 == 0 ? "first" : NULL), 0);
        if (round % 2 == 0) vczc_trim();
    }
    end(&decoder);
    vczi_thread_join(&thread);
    CHECK_EQ(decoder.nwrong, 0);
    vczc_trim();
    CHECK_EQ(outstanding(), 0);
}

#endif

#if !defined(_WIN32) && CAN_FORK_AMONG_ALLOCATIONS
static int use_in_child(const char *unused) {
    (void) unused;
    vczc_trim();
    return use_array(NULL);
}

static int fork_and_use(void) {
    return in_child(use_in_child, NULL);
}

static void a_child_is_forked_meanwhile(void) {
    use_meanwhile(1, 20, fork_and_use);
}
#endif

int main(void) {
    store_values();
    RUN(it_may_be_the_first_call);
    RUN(nothing_is_left);
    RUN(the_last_failure_stays);
    RUN(open_handles_go_on);
    RUN(kept_buffers_go_back);
    RUN(what_live_threads_keep_goes_too);
    RUN(what_ended_threads_kept_is_gone);
    RUN(it_may_be_called_by_a_callback);
    RUN(others_decode_meanwhile);
#if !defined(_WIN32) && CAN_FORK_AMONG_THREADS
    RUN(a_child_may_trim);
#endif
#if !defined(_WIN32) && CAN_FORK_AMONG_ALLOCATIONS
    RUN(a_child_is_forked_meanwhile);
#endif
    return check_result();
}
