/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Directories, archives on disk and memory behind the one interface of stores. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ceilings.h"
#include "key.h"
#include "names.h"
#include "open_zip.h"

static char folder[] = "/tmp/vczc-test-XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[4][600];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *data, size_t nbytes) {
    char path[600];
    snprintf(path, sizeof(path), "%s", in_folder(name));
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void) mkdir(path, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, nbytes, file) != nbytes || fclose(file) != 0) abort();
}

static void write_text(const char *name, const char *text) {
    write_file(name, text, strlen(text));
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void) status, (void) type, (void) walk;
    return remove(path);
}

static void remove_tree(const char *path) {
    (void) nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int open_path(const char *path) {
    scratch = vczi_scratch_borrow();
    return vczi_store_open_path(&store, path, 0);
}

static int open_entries(const vczc_entry_t *entries, size_t nentries) {
    scratch = vczi_scratch_borrow();
    return vczi_store_open_memory(&store, entries, nentries);
}

/* ---- Keys and names ---- */

static void test_safe_keys(void) {
    static const char *const safe[] = {"a", "a/b", ".zarray", "a/.b", "..a", "a..", "a/...", "0.0", "c/0/1", "x y"};
    static const char *const unsafe[] = {"",    "/",   "/a",   "a/",   "a//b",  ".",      "..",
                                         "./a", "a/.", "a/..", "../a", "a/./b", "a/../b", "a\\b"};
    static char longest[VCZI_MAX_KEY_NBYTES + 2];
    for (size_t i = 0; i < sizeof(safe) / sizeof(*safe); i++) {
        CHECK(vczi_key_is_safe(safe[i]));
    }
    for (size_t i = 0; i < sizeof(unsafe) / sizeof(*unsafe); i++) {
        CHECK(!vczi_key_is_safe(unsafe[i]));
    }
    CHECK(!vczi_key_span_is_safe(vczi_span("a\0b", 3)));
    memset(longest, 'a', VCZI_MAX_KEY_NBYTES);
    CHECK(vczi_key_is_safe(longest));
    longest[VCZI_MAX_KEY_NBYTES] = 'a';
    CHECK(!vczi_key_is_safe(longest));
}

static void test_stray_keys(void) {
    static const char *const stray[] = {"__MACOSX", "__MACOSX/a", "._a", "a/._b", "a/._b/c"};
    static const char *const others[] = {"__MACOSX2", "a/__MACOSX/b", "a._b", "a/b._", ".a_"};
    for (size_t i = 0; i < 5; i++) {
        CHECK(vczi_key_is_stray(vczi_span(stray[i], strlen(stray[i]))));
        CHECK(!vczi_key_is_stray(vczi_span(others[i], strlen(others[i]))));
    }
}

static void test_names_are_kept_once_and_sorted(void) {
    vczi_names_t names = {0};
    char text[32];
    vczi_names_sort(&names);
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof(text), "name %d", i * 7919 % 1000);
        CHECK_EQ(vczi_names_add(&names, vczi_span(text, strlen(text))), 0);
    }
    CHECK_EQ(vczi_names_add(&names, vczi_span("name", 4)), 0);
    CHECK_EQ(vczi_names_add(&names, vczi_span("name 10\xff", 8)), 0);
    REQUIRE(names.nitems == 1002);
    vczi_names_sort(&names);
    for (size_t i = 1; i < names.nitems; i++) {
        const vczi_span_t a = vczi_names_view(&names, i - 1), b = vczi_names_view(&names, i);
        const int order = memcmp(a.data, b.data, a.nbytes < b.nbytes ? a.nbytes : b.nbytes);
        CHECK(order < 0 || (order == 0 && a.nbytes < b.nbytes));
    }
    vczi_names_clear(&names);
}

/* ---- Memory ---- */

static void test_memory(void) {
    char changing[] = "data";
    const vczc_entry_t entries[] = {{".zgroup", "{}", 2},   {"x/0", "first", 5},  {"x/1", NULL, 0},
                                    {"../evil", "evil", 4}, {"x/0", changing, 4}, {"y/z/0", "deep", 4}};
    REQUIRE(open_entries(entries, 6) == 0);
    memset(changing, '?', 4);
    CHECK_EQ(vczi_store_kind(store), VCZC_STORE_MEMORY);
    expect("x/0", 0, "data");
    expect("x/1", 0, "");
    expect("y/z/0", 0, "deep");
    expect("../evil", VCZC_ERR_NOT_FOUND, NULL);
    expect("x", VCZC_ERR_NOT_FOUND, NULL);
    CHECK_STR(list(""), ".zgroup x/1 x/0 y/z/0 ");
    CHECK_STR(list("x"), "x/1 x/0 ");
    CHECK_STR(list_folder(""), ".zgroup x y ");
    CHECK_STR(list_folder("y/"), "z ");
    vczi_bytes_t bytes;
    CHECK_EQ(vczi_store_get_range(store, "y/z/0", 1, 2, scratch, &bytes), 0);
    CHECK_MEM(bytes.span.data, "ee", 2);
    CHECK_EQ(vczi_store_get_range(store, "y/z/0", 3, 2, scratch, &bytes), VCZC_ERR_CORRUPT);
    CHECK_EQ(vczi_store_get_range(store, "y/z/0", 1, SIZE_MAX, scratch, &bytes), 0);
    CHECK_EQ(bytes.span.nbytes, 3);
    close_zip();

    REQUIRE(open_entries(NULL, 0) == 0);
    expect("x", VCZC_ERR_NOT_FOUND, NULL);
    CHECK_STR(list(""), "");
    CHECK_STR(list_folder(""), "");
    close_zip();

    const vczc_entry_t bad[] = {{"a", NULL, 1}, {NULL, "", 0}};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(open_entries(&bad[i], 1), VCZC_ERR_ARGUMENT);
        close_zip();
    }
}

static void test_a_folder_around_memory(void) {
    const vczc_entry_t entries[] = {{"a.vcz/.zgroup", "{}", 2}, {"a.vcz/x/0", "chunk", 5}, {"__MACOSX/x", "", 0}};
    REQUIRE(open_entries(entries, 3) == 0);
    CHECK_STR(vczi_store_prefix(store), "a.vcz/");
    expect("x/0", 0, "chunk");
    char key[VCZI_MAX_KEY_NBYTES + 1] = "";
    memset(key, 'k', VCZI_MAX_KEY_NBYTES);
    expect(key, VCZC_ERR_NOT_FOUND, NULL); /* a key, but not behind the prefix */
    close_zip();
}

static void test_references(void) {
    const vczc_entry_t entry = {"a", "b", 1};
    REQUIRE(open_entries(&entry, 1) == 0);
    CHECK(vczi_store_retain(store) == store);
    vczi_store_release(store);
    expect("a", 0, "b");
    close_zip();
    vczi_store_release(NULL);
}

/* ---- Directories ---- */

static char large[3 << 20];

static void test_directory(void) {
    memset(large, 'l', sizeof(large) - 1);
    write_text("d/.zgroup", "{}");
    write_text("d/x/.zarray", "{ }");
    write_text("d/x/0", "zero");
    write_text("d/x/empty", "");
    write_text("d/x/c/1/2", "deep");
    write_text("d/large", large);
    write_text("d/._junk", "junk");
    REQUIRE(open_path(in_folder("d")) == 0);
    CHECK_EQ(vczi_store_kind(store), VCZC_STORE_DIRECTORY);
    CHECK_STR(vczi_store_location(store), in_folder("d"));
    expect("x/0", 0, "zero");
    expect("x/empty", 0, "");
    expect("x/c/1/2", 0, "deep");
    expect("large", 0, large);
    expect("x/1", VCZC_ERR_NOT_FOUND, NULL);
    expect("y/1", VCZC_ERR_NOT_FOUND, NULL);
    expect("x/0/1", VCZC_ERR_NOT_FOUND, NULL);
    expect("../d/x/0", VCZC_ERR_NOT_FOUND, NULL);
    expect("x/c", VCZC_ERR_STORE, NULL);
    CHECK(strstr(reason(), in_folder("d")) != NULL);
    CHECK_STR(list_folder(""), ".zgroup large x ");
    CHECK_STR(list_folder("x/"), ".zarray 0 c empty ");
    CHECK_STR(list_folder("x/c/1/"), "2 ");
    CHECK_STR(list_folder("y/"), "");
    CHECK_STR(list_folder("../"), "");
    CHECK_STR(list("x/c/"), "x/c/1/2 ");
    CHECK_STR(list("x/e"), "x/empty ");
    CHECK_STR(list("../"), "");
    list("");
    CHECK_EQ(strlen(listed), strlen(".zgroup x/.zarray x/0 x/empty x/c/1/2 large "));
    vczi_store_will_need(store, "large");
    vczi_store_will_need(store, "nothing");

    static const char *const keys[] = {"x/0", "large"};
    for (int i = 0; i < 2; i++) {
        const uint64_t total = i == 0 ? 4 : sizeof(large) - 1;
        uint64_t nbytes = 0;
        vczi_bytes_t bytes;
        CHECK_EQ(vczi_store_size(store, keys[i], &nbytes), 0);
        CHECK_EQ(nbytes, total);
        CHECK_EQ(vczi_store_get_range(store, keys[i], 1, 2, NULL, &bytes), 0);
        CHECK_MEM(bytes.span.data, i == 0 ? "er" : "ll", 2);
        vczi_bytes_release(&bytes);
        CHECK_EQ(vczi_store_get_range(store, keys[i], 1, (size_t) total, NULL, &bytes), VCZC_ERR_CORRUPT);
        CHECK(bytes.span.data == NULL && bytes.release == NULL);
    }
    close_zip();
}

static void test_what_is_no_file_is_an_error(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    write_text("odd/x/0", "zero");
    REQUIRE(mkfifo(in_folder("odd/x/fifo"), 0666) == 0);
    REQUIRE(symlink("loop", in_folder("odd/x/loop")) == 0);
    REQUIRE(symlink("0", in_folder("odd/x/link")) == 0);
    REQUIRE(symlink("nowhere", in_folder("odd/x/dangling")) == 0);
    const int sock = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", in_folder("odd/x/socket"));
    CHECK_EQ(bind(sock, (struct sockaddr *) &address, sizeof(address)), 0);
    REQUIRE(open_path(in_folder("odd/x")) == 0);
    expect("fifo", VCZC_ERR_STORE, NULL);
    expect("socket", VCZC_ERR_STORE, NULL);
    expect("loop", VCZC_ERR_STORE, NULL);
    expect("link", 0, "zero");
    expect("dangling", VCZC_ERR_NOT_FOUND, NULL);
    CHECK_STR(list_folder(""), "0 link ");
    close_zip();
    close(sock);
    CHECK_EQ(open_path(in_folder("odd/x/fifo")), VCZC_ERR_STORE);
    close_zip();
    CHECK_EQ(open_path(in_folder("odd/x/loop")), VCZC_ERR_STORE);
    close_zip();
    CHECK_EQ(open_path("/dev/null"), VCZC_ERR_STORE);
    close_zip();
}

static void test_links_in_a_circle_are_not_followed(void) {
    write_text("circle/a/b/file", "");
    write_text("circle/other", "");
    write_text("other folder/file", "");
    REQUIRE(symlink("..", in_folder("circle/a/up")) == 0);
    REQUIRE(symlink(".", in_folder("circle/a/here")) == 0);
    REQUIRE(symlink("../../../other folder", in_folder("circle/a/b/aside")) == 0);
    REQUIRE(symlink("../circle/a/b", in_folder("other folder/back")) == 0);
    REQUIRE(open_path(in_folder("circle")) == 0);
    CHECK_STR(list("a/b/f"), "a/b/file ");
    CHECK_STR(list("a/b/a"), "a/b/aside/file ");
    CHECK_EQ(strlen(list("a/")), strlen("a/b/file a/b/aside/file "));
    CHECK_STR(list_folder("a/"), "b ");
    CHECK_STR(list_folder("a/b/aside/"), "file ");
    expect("a/up/a/here/b/file", 0, "");
    close_zip();
}

static void test_a_folder_around_a_folder(void) {
    write_text("outer/inner.vcz/x/0", "zero");
    write_text("outer/._inner.vcz", "");
    REQUIRE(open_path(in_folder("outer//")) == 0);
    CHECK_STR(vczi_store_location(store), in_folder("outer"));
    CHECK_STR(vczi_store_prefix(store), "inner.vcz/");
    expect("x/0", 0, "zero");
    CHECK_STR(list(""), "x/0 ");
    CHECK_STR(list_folder(""), "x ");
    CHECK_STR(list_folder("x/"), "0 ");
    close_zip();
    write_text("outer/zarr.json", "{}");
    REQUIRE(open_path(in_folder("outer")) == 0);
    CHECK_STR(vczi_store_prefix(store), "");
    close_zip();
    REQUIRE(mkdir(in_folder("hollow"), 0777) == 0 && mkdir(in_folder("hollow/empty"), 0777) == 0);
    REQUIRE(open_path(in_folder("hollow")) == 0);
    CHECK_STR(vczi_store_prefix(store), "");
    close_zip();
}

static void test_a_store_stays_the_one_that_was_opened(void) {
    char before[4096];
    REQUIRE(getcwd(before, sizeof(before)) != NULL);
    write_text("first/x", "first");
    write_text("first/y", "");
    REQUIRE(chdir(folder) == 0);
    CHECK_EQ(open_path("first"), 0);
    CHECK_EQ(chdir("/"), 0);
    expect("x", 0, "first");
    CHECK_STR(vczi_store_location(store), in_folder("first"));
    CHECK_EQ(rename(in_folder("first"), in_folder("moved")), 0);
    write_text("first/x", "second");
    expect("x", 0, "first");
    close_zip();
    make_usual();
    zip_finish("");
    write_file("first.zip", zip.bytes, zip.nbytes);
    CHECK_EQ(chdir(folder), 0);
    CHECK_EQ(open_path("first.zip"), 0);
    CHECK_EQ(chdir("/"), 0);
    expect_usual();
    close_zip();
    CHECK_EQ(chdir(before), 0);
}

/* ---- Archives on disk ---- */

static void test_archive_on_disk(void) {
    make_usual();
    zip_finish("");
    write_file("a.dat", zip.bytes, zip.nbytes);
    REQUIRE(open_path(in_folder("a.dat")) == 0);
    CHECK_EQ(vczi_store_kind(store), VCZC_STORE_ZIP);
    expect_usual();
    vczi_store_will_need(store, "x/1");
    CHECK_EQ(unlink(in_folder("a.dat")), 0); /* its bytes are still there */
    expect_usual();
    close_zip();
}

static void test_an_archive_that_changes(void) {
    make_usual();
    zip_finish("");
    for (int how = 0; how < 3; how++) {
        uint64_t nbytes;
        write_file("b.zip", zip.bytes, zip.nbytes);
        REQUIRE(open_path(in_folder("b.zip")) == 0);
        expect_usual();
        if (how == 0) CHECK_EQ(truncate(in_folder("b.zip"), 10), 0);
        if (how == 1) write_text("b.zip", "quite another file");
        if (how == 2) {
            write_file("c.zip", zip.bytes, zip.nbytes);
            CHECK_EQ(rename(in_folder("c.zip"), in_folder("b.zip")), 0);
        }
        expect("x/0", VCZC_ERR_STORE, NULL);
        expect("x/1", VCZC_ERR_STORE, NULL);
        expect("nothing", VCZC_ERR_STORE, NULL);
        CHECK(strstr(reason(), "b.zip") != NULL);
        CHECK_EQ(vczi_store_size(store, "x/0", &nbytes), VCZC_ERR_STORE);
        CHECK_EQ(vczi_store_list(store, "", append, NULL), VCZC_ERR_STORE);
        CHECK_EQ(vczi_store_list_folder(store, "", append, NULL), VCZC_ERR_STORE);
        vczi_store_will_need(store, "x/0");
        close_zip();
    }
}

static void test_paths_that_are_no_store(void) {
    static const struct {
        const char *name;
        int code;
    } paths[] = {{"nowhere.vcz", VCZC_ERR_NOT_FOUND},
                 {"notes.txt", VCZC_ERR_STORE},
                 {"empty", VCZC_ERR_STORE},
                 {"notes.txt/x", VCZC_ERR_NOT_FOUND}};
    write_text("notes.txt", "not a store");
    write_text("empty", "");
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        CHECK_EQ(open_path(in_folder(paths[i].name)), paths[i].code);
        CHECK(store == NULL);
        CHECK(strstr(reason(), in_folder(paths[i].name)) != NULL);
        close_zip();
    }
    CHECK_EQ(open_path(""), VCZC_ERR_NOT_FOUND);
    close_zip();
    CHECK_EQ(vczi_store_open_path(&store, folder, 8), VCZC_ERR_ARGUMENT);
}

static int stop_at_first(void *user, const char *key, size_t key_nbytes) {
    (void) key, (void) key_nbytes;
    ++*(int *) user;
    return 42;
}

static void test_a_listing_can_be_ended(void) {
    const vczc_entry_t entries[] = {{"a", "", 0}, {"b", "", 0}};
    for (int kind = 0; kind < 3; kind++) {
        int ncalls = 0;
        make_usual();
        zip_finish("");
        REQUIRE((kind == 0 ? open_zip() : kind == 1 ? open_path(in_folder("d")) : open_entries(entries, 2)) == 0);
        CHECK_EQ(vczi_store_list(store, "", stop_at_first, &ncalls), 42);
        CHECK_EQ(vczi_store_list_folder(store, "", stop_at_first, &ncalls), 42);
        CHECK_EQ(ncalls, 2);
        close_zip();
    }
}

#ifdef VCZI_TEST_FAULTS
static void test_each_allocation_fails(void) {
    const vczc_entry_t entries[] = {{"a.vcz/x/0", "zero", 4}};
    for (int kind = 0; kind < 2; kind++) {
        for (long count = 1;; count++) {
            vczi_bytes_t bytes = {0};
            listed[0] = '\0';
            vczi_test_fail_allocation(count);
            int ret = kind == 0 ? vczi_store_open_path(&store, in_folder("d"), 0)
                                : vczi_store_open_memory(&store, entries, 1);
            if (ret == 0) ret = vczi_store_get(store, kind == 0 ? "large" : "x/0", NULL, &bytes);
            if (ret == 0) ret = vczi_store_list(store, "", append, NULL);
            if (ret == 0) ret = vczi_store_list_folder(store, "", append, NULL);
            vczi_test_fail_allocation(0);
            vczi_bytes_release(&bytes);
            vczi_store_release(store);
            store = NULL;
            if (ret == 0) {
                CHECK(count > 5);
                break;
            }
            REQUIRE(ret == VCZC_ERR_NO_MEMORY && count < 100);
        }
    }
}
#endif

int main(void) {
    if (mkdtemp(folder) == NULL) return 1;
    RUN(test_safe_keys);
    RUN(test_stray_keys);
    RUN(test_names_are_kept_once_and_sorted);
    RUN(test_memory);
    RUN(test_a_folder_around_memory);
    RUN(test_references);
    RUN(test_directory);
    RUN(test_what_is_no_file_is_an_error);
    RUN(test_links_in_a_circle_are_not_followed);
    RUN(test_a_folder_around_a_folder);
    RUN(test_a_store_stays_the_one_that_was_opened);
    RUN(test_archive_on_disk);
    RUN(test_an_archive_that_changes);
    RUN(test_paths_that_are_no_store);
    RUN(test_a_listing_can_be_ended);
#ifdef VCZI_TEST_FAULTS
    RUN(test_each_allocation_fails);
#endif
    remove_tree(folder);
    return check_result();
}
