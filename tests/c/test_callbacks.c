/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Stores on an embedder's functions, also on those that do not keep to the rules. */
#include <stddef.h>

#include "open_zip.h"

typedef struct {
    const char *const (*entries)[2]; /* key and text; NULL ends them */
    int ret;                         /* what `get`, `size` and `list` return instead */
    const char *why;                 /* their reason; NULL: none is given */
    size_t extra;                    /* bytes that `get` gives more than it should */
    bool no_address;
    int ngets, nreleases, nsizes, nlists, ncloses;
    void *last_pin;
} embedder_t;

static const char *const usual[][2] = {{".zgroup", "{}"},   {"x/0", "zero"}, {"x/1", "one"}, {"y", ""},
                                       {"../evil", "evil"}, {"._y", ""},     {NULL, NULL}};
static const char *const wrapped[][2] = {{"a.vcz/.zgroup", "{}"}, {"a.vcz/x/0", "zero"}, {NULL, NULL}};

static int give_up(const embedder_t *embedder) {
    return embedder->why == NULL ? embedder->ret : vczi_fail(embedder->ret, "%s", embedder->why);
}

static const char *find(const embedder_t *embedder, const char *key) {
    for (int i = 0; embedder->entries[i][0] != NULL; i++) {
        if (strcmp(embedder->entries[i][0], key) == 0) return embedder->entries[i][1];
    }
    return NULL;
}

static int get(void *user, const char *key, uint64_t offset, size_t nbytes, const void **data, size_t *data_nbytes,
               void **pin) {
    embedder_t *embedder = user;
    const char *text = find(embedder, key);
    embedder->ngets++;
    if (embedder->ret != 0) return give_up(embedder);
    if (text == NULL) return VCZC_ERR_NOT_FOUND;
    const size_t total = strlen(text);
    const size_t start = offset < total ? (size_t) offset : total;
    *data = embedder->no_address ? NULL : text + start;
    *data_nbytes = (nbytes < total - start ? nbytes : total - start) + embedder->extra;
    *pin = embedder;
    return 0;
}

static void release(void *user, void *pin) {
    embedder_t *embedder = user;
    embedder->nreleases++;
    embedder->last_pin = pin;
}

static int size(void *user, const char *key, uint64_t *nbytes) {
    embedder_t *embedder = user;
    const char *text = find(embedder, key);
    embedder->nsizes++;
    if (embedder->ret != 0) return give_up(embedder);
    *nbytes = text == NULL ? 0 : strlen(text);
    return text == NULL ? VCZC_ERR_NOT_FOUND : 0;
}

static int list_keys(void *user, const char *prefix, vczc_list_fn tell, void *tell_user) {
    embedder_t *embedder = user;
    (void) prefix; /* tells more than it was asked for */
    embedder->nlists++;
    if (embedder->ret != 0) return give_up(embedder);
    for (int i = 0; embedder->entries[i][0] != NULL; i++) {
        (void) tell(tell_user, embedder->entries[i][0], strlen(embedder->entries[i][0])); /* and is not to be stopped */
    }
    return 0;
}

static void close_it(void *user) {
    embedder_t *embedder = user;
    embedder->ncloses++;
}

static const vczc_callbacks_t all = {
    .struct_nbytes = sizeof(vczc_callbacks_t),
    .get = get,
    .release = release,
    .size = size,
    .list = list_keys,
    .close = close_it,
    .prefer_consolidated = 1,
};

static int open_callbacks(const vczc_callbacks_t *callbacks, embedder_t *embedder) {
    scratch = vczi_scratch_borrow();
    return vczi_store_open_callbacks(&store, callbacks, embedder, "cloud");
}

static void test_reading(void) {
    embedder_t embedder = {.entries = usual};
    uint64_t nbytes = 0;
    vczi_bytes_t bytes;
    REQUIRE(open_callbacks(&all, &embedder) == 0);
    CHECK_EQ(vczi_store_kind(store), VCZC_STORE_CALLBACKS);
    CHECK_STR(vczi_store_location(store), "cloud");
    CHECK_STR(vczi_store_prefix(store), "");
    CHECK(vczi_store_prefers_consolidated(store));
    expect("x/0", 0, "zero");
    expect("y", 0, "");
    expect("x/2", VCZC_ERR_NOT_FOUND, NULL);
    const int ngets = embedder.ngets;
    expect("../evil", VCZC_ERR_NOT_FOUND, NULL);
    CHECK_EQ(embedder.ngets, ngets); /* was not asked */
    CHECK_EQ(embedder.nreleases, 4);
    CHECK(embedder.last_pin == &embedder);
    CHECK_EQ(vczi_store_size(store, "x/1", &nbytes), 0);
    CHECK_EQ(nbytes, 3);
    CHECK_EQ(vczi_store_size(store, "x/2", &nbytes), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczi_store_get_range(store, "x/0", 1, 2, scratch, &bytes), 0);
    CHECK_MEM(bytes.span.data, "er", 2);
    vczi_bytes_release(&bytes);
    CHECK_EQ(vczi_store_get_range(store, "x/0", 1, SIZE_MAX, scratch, &bytes), 0);
    CHECK_EQ(bytes.span.nbytes, 3);
    vczi_bytes_release(&bytes);
    CHECK_EQ(vczi_store_get_range(store, "x/0", 3, 2, scratch, &bytes), VCZC_ERR_CORRUPT);
    CHECK_EQ(vczi_store_get_range(store, "x/0", 9, SIZE_MAX, scratch, &bytes), VCZC_ERR_CORRUPT);
    CHECK_EQ(embedder.nreleases, 8);
    vczi_store_will_need(store, "x/0");
    CHECK_EQ(embedder.ncloses, 0);
    close_zip();
    CHECK_EQ(embedder.ncloses, 1);
}

static int stop(void *user, const char *key, size_t key_nbytes) {
    (void) key, (void) key_nbytes;
    ++*(int *) user;
    return -7;
}

static void test_listing(void) {
    embedder_t embedder = {.entries = usual};
    int ncalls = 0;
    REQUIRE(open_callbacks(&all, &embedder) == 0);
    CHECK_STR(list(""), ".zgroup x/0 x/1 y ");
    CHECK_STR(list("x/"), "x/0 x/1 ");
    CHECK_STR(list("../"), "");
    CHECK_STR(list_folder(""), ".zgroup x y ");
    CHECK_STR(list_folder("x/"), "0 1 ");
    CHECK_EQ(vczi_store_list(store, "", stop, &ncalls), -7);
    CHECK_EQ(ncalls, 1);
    close_zip();
}

static void test_a_folder_around_it(void) {
    embedder_t embedder = {.entries = wrapped};
    vczc_callbacks_t callbacks = all;
    callbacks.prefer_consolidated = 0;
    REQUIRE(open_callbacks(&callbacks, &embedder) == 0);
    CHECK_STR(vczi_store_prefix(store), "a.vcz/");
    expect("x/0", 0, "zero");
    CHECK_STR(list(""), ".zgroup x/0 ");
    close_zip();
    /* Where requests are dear nobody looks. */
    embedder.nlists = 0;
    REQUIRE(open_callbacks(&all, &embedder) == 0);
    CHECK_STR(vczi_store_prefix(store), "");
    CHECK_EQ(embedder.nlists, 0);
    close_zip();
}

static int list_names(void *user, const char *folder, vczc_list_fn tell, void *tell_user) {
    embedder_t *embedder = user;
    embedder->nlists++;
    if (embedder->ret != 0) return give_up(embedder);
    (void) tell(tell_user, folder[0] == '\0' ? "top" : "below", folder[0] == '\0' ? 3 : 5);
    (void) tell(tell_user, "..", 2);
    return tell(tell_user, "top", 3);
}

static void test_listing_of_folders(void) {
    embedder_t embedder = {.entries = usual};
    vczc_callbacks_t callbacks = all;
    int ncalls = 0;
    callbacks.list_folder = list_names;
    REQUIRE(open_callbacks(&callbacks, &embedder) == 0);
    CHECK_STR(list_folder(""), "top ");
    CHECK_STR(list_folder("x/"), "below top ");
    CHECK_STR(list("x/"), "x/0 x/1 ");
    CHECK_EQ(vczi_store_list_folder(store, "", stop, &ncalls), -7);
    CHECK_EQ(ncalls, 1);
    embedder.ret = VCZC_ERR_STORE;
    embedder.why = "link down";
    CHECK_EQ(vczi_store_list_folder(store, "", append, NULL), VCZC_ERR_STORE);
    CHECK(strstr(reason(), "link down") != NULL);
    embedder.ret = VCZC_ERR_NOT_FOUND;
    CHECK_STR(list_folder("gone/"), "");
    close_zip();
}

static void test_get_alone_will_do(void) {
    embedder_t embedder = {.entries = usual};
    vczc_callbacks_t callbacks = {.struct_nbytes = sizeof(callbacks), .get = get};
    uint64_t nbytes = 0;
    REQUIRE(open_callbacks(&callbacks, &embedder) == 0);
    CHECK(!vczi_store_prefers_consolidated(store));
    expect("x/0", 0, "zero");
    CHECK_EQ(vczi_store_size(store, "x/0", &nbytes), 0);
    CHECK_EQ(nbytes, 4);
    CHECK_EQ(vczi_store_list(store, "", append, NULL), VCZC_ERR_UNSUPPORTED);
    CHECK_EQ(vczi_store_list_folder(store, "", append, NULL), VCZC_ERR_UNSUPPORTED);
    close_zip();
    CHECK_EQ(embedder.nreleases + embedder.ncloses, 0);
}

static void test_an_older_header(void) {
    embedder_t embedder = {.entries = usual};
    vczc_callbacks_t callbacks = all;
    callbacks.struct_nbytes = offsetof(vczc_callbacks_t, close);
    REQUIRE(open_callbacks(&callbacks, &embedder) == 0);
    CHECK(!vczi_store_prefers_consolidated(store));
    CHECK_STR(list_folder(""), ".zgroup x y ");
    close_zip();
    CHECK_EQ(embedder.ncloses, 0);

    callbacks.struct_nbytes = offsetof(vczc_callbacks_t, release);
    REQUIRE(open_callbacks(&callbacks, &embedder) == 0);
    expect("x/0", 0, "zero");
    close_zip();
    CHECK_EQ(embedder.nreleases, 0);

    callbacks.struct_nbytes = offsetof(vczc_callbacks_t, get);
    CHECK_EQ(open_callbacks(&callbacks, &embedder), VCZC_ERR_ARGUMENT);
    close_zip();
    callbacks = all;
    callbacks.get = NULL;
    CHECK_EQ(open_callbacks(&callbacks, &embedder), VCZC_ERR_ARGUMENT);
    close_zip();
    CHECK_EQ(embedder.ncloses, 0);
}

static void test_failures_keep_their_code_and_reason(void) {
    static const struct {
        int ret, code;
        const char *why, *expected;
    } failures[] = {
        {VCZC_ERR_STORE, VCZC_ERR_STORE, "link down", "cloud: 'x/0': link down"},
        {VCZC_ERR_STORE, VCZC_ERR_STORE, NULL, "cloud: the store's get('x/0') failed, and gave no reason"},
        {VCZC_ERR_NOT_FOUND, VCZC_ERR_NOT_FOUND, NULL, "cloud: no entry 'x/0'"},
        {VCZC_ERR_NO_MEMORY, VCZC_ERR_NO_MEMORY, NULL, "cloud: the store's get('x/0') failed, and gave no reason"},
        {1, VCZC_ERR_STORE, NULL, "returned 1"},
        {VCZC_ERR_LAST - 1, VCZC_ERR_STORE, "odd", "which is no code"},
    };
    for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
        embedder_t embedder = {.entries = usual};
        uint64_t nbytes;
        REQUIRE(open_callbacks(&all, &embedder) == 0);
        embedder.ret = failures[i].ret;
        embedder.why = failures[i].why;
        (void) vczi_fail(VCZC_ERR_INDEX, "an older failure");
        expect("x/0", failures[i].code, NULL);
        if (!CHECK(strstr(reason(), failures[i].expected) != NULL)) fprintf(stderr, "    %s\n", reason());
        CHECK_EQ(vczi_detail_view()->code, failures[i].code);
        CHECK_EQ(embedder.nreleases, 0);
        CHECK_EQ(vczi_store_size(store, "x/0", &nbytes), failures[i].code);
        CHECK_EQ(vczi_store_list(store, "", append, NULL),
                 failures[i].code == VCZC_ERR_NOT_FOUND ? 0 : failures[i].code);
        close_zip();
    }
}

static void test_success_leaves_the_last_failure_alone(void) {
    embedder_t embedder = {.entries = usual};
    REQUIRE(open_callbacks(&all, &embedder) == 0);
    (void) vczi_fail(VCZC_ERR_INDEX, "an older failure");
    expect("x/0", 0, "zero");
    CHECK_STR(reason(), "an older failure");
    CHECK_EQ(vczi_detail_view()->code, VCZC_ERR_INDEX);
    int ncalls = 0;
    CHECK_EQ(vczi_store_list(store, "", stop, &ncalls), -7);
    CHECK_STR(reason(), "an older failure");
    close_zip();
}

static void test_bytes_that_cannot_be(void) {
    embedder_t embedder = {.entries = usual};
    vczi_bytes_t bytes;
    REQUIRE(open_callbacks(&all, &embedder) == 0);
    embedder.extra = 1;
    CHECK_EQ(vczi_store_get_range(store, "x/0", 0, 2, scratch, &bytes), VCZC_ERR_STORE);
    embedder.extra = 0;
    embedder.no_address = true;
    CHECK_EQ(vczi_store_get(store, "x/0", scratch, &bytes), VCZC_ERR_STORE);
    CHECK_EQ(vczi_store_get(store, "y", scratch, &bytes), 0);
    vczi_bytes_release(&bytes);
    CHECK_EQ(embedder.ngets, embedder.nreleases);
    close_zip();
}

/* A store that cannot be listed can still be read; only what is no fault of the listing stops the opening. */
static void test_a_listing_that_fails_when_it_is_opened(void) {
    embedder_t embedder = {.entries = usual, .ret = VCZC_ERR_STORE};
    vczc_callbacks_t callbacks = all;
    callbacks.prefer_consolidated = 0;
    REQUIRE(open_callbacks(&callbacks, &embedder) == 0);
    embedder.ret = 0;
    expect("x/0", 0, "zero");
    close_zip();
    embedder.ncloses = 0;
    embedder.ret = VCZC_ERR_NO_MEMORY;
    CHECK_EQ(open_callbacks(&callbacks, &embedder), VCZC_ERR_NO_MEMORY);
    CHECK(store == NULL);
    CHECK_EQ(embedder.ncloses, 0);
    close_zip();
}

int main(void) {
    RUN(test_reading);
    RUN(test_listing);
    RUN(test_a_folder_around_it);
    RUN(test_listing_of_folders);
    RUN(test_get_alone_will_do);
    RUN(test_an_older_header);
    RUN(test_failures_keep_their_code_and_reason);
    RUN(test_success_leaves_the_last_failure_alone);
    RUN(test_bytes_that_cannot_be);
    RUN(test_a_listing_that_fails_when_it_is_opened);
    return check_result();
}
