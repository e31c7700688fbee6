/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Files and folders: what opens, what does not and with which code, reading, mapping, listing, change under a reader.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "file.h"
#include "mem.h"
#include "status.h"

#ifdef _WIN32
#include <direct.h>
#include <windows.h>
#define make_folder(path) _mkdir(path)
#define remove_folder(path) _rmdir(path)
#define change_folder(path) _chdir(path)
#else
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#define make_folder(path) mkdir(path, 0700)
#define remove_folder(path) rmdir(path)
#define change_folder(path) chdir(path)
#endif

static char root[512]; /* a folder of our own, and the working directory */

/* `root/name`, in one of a few buffers in turn. */
static const char *at(const char *name) {
    static char paths[4][1024];
    static int next;
    char *path = paths[next++ % 4];
    (void) snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t nbytes) {
    FILE *file = fopen(at(name), "wb");
    if (!CHECK(file != NULL)) {
        return;
    }
    CHECK_EQ(fwrite(bytes, 1, nbytes, file), nbytes);
    CHECK_EQ(fclose(file), 0);
}

static void test_read_within_and_beyond(void) {
    vczi_file_t file;
    uint8_t out[16];
    write_file("ten", "0123456789", 10);
    REQUIRE(vczi_file_open(&file, at("ten")) == 0);
    CHECK_EQ(file.nbytes, 10);
    memset(out, 0xee, sizeof(out));
    CHECK_EQ(vczi_file_read(&file, 0, out, 10), 0);
    CHECK_MEM(out, "0123456789\xee", 11);
    CHECK_EQ(vczi_file_read(&file, 7, out, 3), 0);
    CHECK_MEM(out, "7893456789", 10);
    CHECK_EQ(vczi_file_read(&file, 10, out, 0), 0);
    CHECK_EQ(vczi_file_read(&file, 8, out, 3), VCZC_ERR_STORE);
    CHECK_EQ(vczi_file_read(&file, 11, out, 0), VCZC_ERR_STORE);
    CHECK_EQ(vczi_file_read(&file, UINT64_MAX, out, 2), VCZC_ERR_STORE);
    CHECK_EQ(vczi_file_read(&file, 2, out, SIZE_MAX), VCZC_ERR_STORE);
    vczi_file_close(&file);
    CHECK_EQ(file.handle, 0);
    vczi_file_close(&file);
}

static void test_what_does_not_open(void) {
    vczi_file_t file;
    CHECK_EQ(vczi_file_open(&file, at("absent")), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(file.handle, 0);
    CHECK_EQ(vczi_file_open(&file, at("absent/too")), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczi_file_open(&file, ""), VCZC_ERR_NOT_FOUND);
    write_file("plain", "x", 1);
#ifndef _WIN32
    CHECK_EQ(vczi_file_open(&file, at("plain/below")), VCZC_ERR_NOT_FOUND);
#endif
    CHECK_EQ(vczi_file_open(&file, root), VCZC_ERR_STORE);
    CHECK(strstr(vczi_detail_view()->reason, "not a regular file") != NULL);
    CHECK_EQ(file.handle, 0);
}

#ifndef _WIN32
static void test_special_files_are_refused(void) {
    vczi_file_t file;
    char name[400];
    CHECK_EQ(mkfifo(at("fifo"), 0600), 0);
    CHECK_EQ(vczi_file_open(&file, at("fifo")), VCZC_ERR_STORE); /* and does not wait for a writer */
    CHECK_EQ(vczi_file_open(&file, "/dev/zero"), VCZC_ERR_STORE);
    CHECK_EQ(symlink("loop", at("loop")), 0);
    CHECK_EQ(vczi_file_open(&file, at("loop")), VCZC_ERR_STORE);
    CHECK_EQ(symlink("nowhere", at("dangling")), 0);
    CHECK_EQ(vczi_file_open(&file, at("dangling")), VCZC_ERR_NOT_FOUND);
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    CHECK_EQ(vczi_file_open(&file, at(name)), VCZC_ERR_NOT_FOUND); /* no file has a name that long */
    CHECK(strstr(vczi_detail_view()->reason, strerror(ENAMETOOLONG)) != NULL);

    struct sockaddr_un address = {0};
    address.sun_family = AF_UNIX;
    if (strlen(at("socket")) < sizeof(address.sun_path)) {
        const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
        memcpy(address.sun_path, at("socket"), strlen(at("socket")) + 1);
        CHECK_EQ(bind(listener, (const struct sockaddr *) &address, sizeof(address)), 0);
        CHECK_EQ(vczi_file_open(&file, at("socket")), VCZC_ERR_STORE);
        (void) close(listener);
    }
    write_file("secret", "x", 1);
    CHECK_EQ(chmod(at("secret"), 0), 0);
    CHECK_EQ(vczi_file_open(&file, at("secret")), geteuid() == 0 ? 0 : VCZC_ERR_STORE); /* root may read all */
    vczi_file_close(&file);
}

static void test_no_descriptor_left_is_no_absence(void) {
    struct rlimit limit;
    struct rlimit none;
    vczi_file_t file;
    write_file("there", "x", 1);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK_EQ(vczi_file_open(&file, at("there")), VCZC_ERR_STORE);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void test_descriptors_are_closed(void) {
    vczi_file_t file;
    vczi_folder_t folder;
    const int before = dup(0);
    (void) close(before);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(vczi_file_open(&file, root), VCZC_ERR_STORE);
        CHECK_EQ(vczi_file_open(&file, at("ten")), 0);
        vczi_file_close(&file);
        CHECK_EQ(vczi_folder_open(&folder, root), 0);
        vczi_folder_close(&folder);
    }
    const int after = dup(0);
    CHECK_EQ(after, before);
    (void) close(after);
}
#endif

static void test_path_kind_and_absolute(void) {
    int kind = -1;
    char *path = NULL;
    vczi_file_t file;
    CHECK_EQ(vczi_path_kind(root, &kind), 0);
    CHECK_EQ(kind, VCZI_PATH_FOLDER);
    CHECK_EQ(vczi_path_kind(at("ten"), &kind), 0);
    CHECK_EQ(kind, VCZI_PATH_FILE);
    CHECK_EQ(vczi_path_kind(at("absent"), &kind), 0);
    CHECK_EQ(kind, VCZI_PATH_ABSENT);
    CHECK_EQ(vczi_path_kind(at("ten/below"), &kind), 0);
    CHECK_EQ(kind, VCZI_PATH_ABSENT);
    CHECK_EQ(vczi_path_absolute("", &path), VCZC_ERR_NOT_FOUND);
    CHECK(path == NULL);
    REQUIRE(vczi_path_absolute("ten", &path) == 0); /* the working directory is `root` */
    CHECK_EQ(make_folder(at("elsewhere")), 0);
    CHECK_EQ(change_folder(at("elsewhere")), 0);
    CHECK_EQ(vczi_file_open(&file, "ten"), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczi_file_open(&file, path), 0);
    vczi_file_close(&file);
    CHECK_EQ(change_folder(root), 0);
    vczi_free(path);
#ifndef _WIN32
    CHECK_EQ(vczi_path_kind(at("loop"), &kind), VCZC_ERR_STORE);
    CHECK_EQ(vczi_path_kind(at("dangling"), &kind), 0);
    CHECK_EQ(kind, VCZI_PATH_ABSENT);
    CHECK_EQ(vczi_path_kind(at("fifo"), &kind), 0);
    CHECK_EQ(kind, VCZI_PATH_OTHER);
    CHECK_EQ(vczi_path_absolute("/a//b/../c", &path), 0);
    CHECK_STR(path, "/a//b/../c");
    vczi_free(path);
#endif
}

static void test_map(void) {
    static uint8_t bytes[100001];
    vczi_file_t file;
    vczi_map_t map;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t) (i * 7);
    }
    write_file("mapped", bytes, sizeof(bytes));
    write_file("empty", "", 0);
    REQUIRE(vczi_file_open(&file, at("mapped")) == 0);
    CHECK_EQ(vczi_file_map(&file, &map), 0);
    CHECK_EQ(map.span.nbytes, sizeof(bytes));
    CHECK_MEM(map.span.data, bytes, sizeof(bytes));
    vczi_map_will_need(&map, 0, sizeof(bytes));
    vczi_map_will_need(&map, 5000, SIZE_MAX);
    vczi_map_will_need(&map, SIZE_MAX, SIZE_MAX);
    vczi_file_close(&file); /* the map outlives its file */
    CHECK_EQ(map.span.data[100000], bytes[100000]);
    vczi_map_close(&map);
    CHECK(map.span.data == NULL && map.span.nbytes == 0);
    vczi_map_close(&map);

    REQUIRE(vczi_file_open(&file, at("empty")) == 0);
    CHECK_EQ(vczi_file_map(&file, &map), 0);
    CHECK_EQ(map.span.nbytes, 0);
    vczi_map_will_need(&map, 0, 1);
    vczi_map_close(&map);
    vczi_file_close(&file);
}

static void test_change_is_found_out(void) {
    vczi_file_t file;
    uint8_t out[4];
    write_file("kept", "abcd", 4);
    REQUIRE(vczi_file_open(&file, at("kept")) == 0);
    CHECK_EQ(vczi_file_check_unchanged(&file, at("kept")), 0);
    write_file("kept", "ab", 2); /* truncated, then written */
    CHECK_EQ(vczi_file_check_unchanged(&file, at("kept")), VCZC_ERR_STORE);
    CHECK_EQ(vczi_file_read(&file, 0, out, 4), VCZC_ERR_STORE);
    vczi_file_close(&file);
#ifndef _WIN32
    REQUIRE(vczi_file_open(&file, at("kept")) == 0);
    const struct timeval times[2] = {{1000, 0}, {1000, 0}};
    CHECK_EQ(utimes(at("kept"), times), 0); /* of the same size, at another time */
    CHECK_EQ(vczi_file_check_unchanged(&file, at("kept")), VCZC_ERR_STORE);
    vczi_file_close(&file);
#endif
}

#ifndef _WIN32
static void test_replacement_is_found_out(void) {
    vczi_file_t file;
    uint8_t out[3];
    write_file("old", "old", 3);
    write_file("new", "new", 3);
    REQUIRE(vczi_file_open(&file, at("old")) == 0);
    CHECK_EQ(link(at("old"), at("other name")), 0);
    CHECK_EQ(chmod(at("old"), 0644), 0);
    CHECK_EQ(vczi_file_check_unchanged(&file, at("old")), 0); /* touched, but the same file */
    CHECK_EQ(rename(at("new"), at("old")), 0);
    CHECK_EQ(vczi_file_check_unchanged(&file, at("old")), VCZC_ERR_STORE);
    CHECK(strstr(vczi_detail_view()->reason, "replaced") != NULL);
    vczi_file_close(&file);

    REQUIRE(vczi_file_open(&file, at("other name")) == 0); /* moved away, and another put there: links stay 1 */
    CHECK_EQ(rename(at("other name"), at("moved")), 0);
    CHECK_EQ(vczi_file_check_unchanged(&file, at("other name")), 0);
    write_file("other name", "old", 3);
    CHECK_EQ(vczi_file_check_unchanged(&file, at("other name")), VCZC_ERR_STORE);
    vczi_file_close(&file);

    REQUIRE(vczi_file_open(&file, at("moved")) == 0);
    CHECK_EQ(unlink(at("moved")), 0);
    CHECK_EQ(vczi_file_check_unchanged(&file, at("moved")), 0); /* a file without a name is still good */
    CHECK_EQ(vczi_file_read(&file, 0, out, 3), 0);
    CHECK_MEM(out, "old", 3);
    vczi_file_close(&file);
}
#endif

typedef struct {
    char text[512]; /* `[name:kind]` of each */
    int nentries;
    int end_at;
} listing_t;

static int note_entry(void *user, const char *name, int kind) {
    listing_t *listing = user;
    const size_t nbytes = strlen(listing->text);
    (void) snprintf(listing->text + nbytes, sizeof(listing->text) - nbytes, "[%s:%d]", name, kind);
    listing->nentries++;
    return listing->nentries == listing->end_at ? 42 : 0;
}

static void test_folder(void) {
    vczi_folder_t folder;
    vczi_file_t file;
    uint64_t nbytes = 7;
    CHECK_EQ(make_folder(at("store")), 0);
    CHECK_EQ(make_folder(at("store/sub")), 0);
    write_file("store/a", "1234", 4);
    write_file("store/sub/b", "12", 2);
    CHECK_EQ(vczi_folder_open(&folder, at("absent")), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(folder.handle, 0);
    CHECK(folder.path == NULL);
    CHECK_EQ(vczi_folder_open(&folder, at("ten")), VCZC_ERR_NOT_FOUND);
    REQUIRE(vczi_folder_open(&folder, "store") == 0);
#ifndef _WIN32
    CHECK_STR(folder.path, at("store"));
#endif
    CHECK_EQ(change_folder(at("elsewhere")), 0);
    CHECK_EQ(vczi_folder_open_file(&folder, "sub/b", &file), 0);
    CHECK_EQ(file.nbytes, 2);
    vczi_file_close(&file);
    CHECK_EQ(vczi_folder_open_file(&folder, "sub", &file), VCZC_ERR_STORE);
    CHECK_EQ(vczi_folder_open_file(&folder, "a/b", &file), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczi_folder_open_file(&folder, "c", &file), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczi_folder_open_file(&folder, "", &file), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczi_folder_open_file(&folder, at("ten"), &file), VCZC_ERR_NOT_FOUND); /* absolute: not in the folder */
    CHECK_EQ(vczi_folder_file_size(&folder, "a", &nbytes), 0);
    CHECK_EQ(nbytes, 4);
    CHECK_EQ(vczi_folder_file_size(&folder, "sub", &nbytes), VCZC_ERR_STORE);
    CHECK_EQ(vczi_folder_file_size(&folder, "sub/c", &nbytes), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczi_folder_file_size(&folder, at("ten"), &nbytes), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(nbytes, 0);
    CHECK_EQ(change_folder(root), 0);
#ifndef _WIN32
    CHECK_EQ(rename(at("store"), at("moved store")), 0);
    CHECK_EQ(vczi_folder_open_file(&folder, "a", &file), 0);
    vczi_file_close(&file);
    CHECK_EQ(vczi_folder_check(&folder), 0);
    CHECK_EQ(rename(at("moved store"), at("store")), 0);
#endif
    vczi_folder_close(&folder);
    vczi_folder_close(&folder);
}

static void test_folder_removed(void) {
    vczi_folder_t folder;
    CHECK_EQ(make_folder(at("gone")), 0);
    REQUIRE(vczi_folder_open(&folder, at("gone")) == 0);
    CHECK_EQ(vczi_folder_check(&folder), 0);
    CHECK_EQ(remove_folder(at("gone")), 0);
    CHECK_EQ(vczi_folder_check(&folder), VCZC_ERR_STORE);
#ifndef _WIN32 /* which knows the folder by its path alone */
    CHECK_EQ(make_folder(at("gone")), 0);
    CHECK_EQ(vczi_folder_check(&folder), VCZC_ERR_STORE);
#endif
    vczi_folder_close(&folder);
}

static void test_folder_list(void) {
    vczi_folder_t folder;
    listing_t listing = {"", 0, 0};
    int nexpected = 2;
    REQUIRE(vczi_folder_open(&folder, at("store")) == 0);
#ifndef _WIN32
    CHECK_EQ(symlink("a", at("store/link to a")), 0);
    CHECK_EQ(symlink("sub", at("store/link to sub")), 0);
    CHECK_EQ(symlink("nothing", at("store/link to nothing")), 0);
    CHECK_EQ(mkfifo(at("store/fifo"), 0600), 0);
    nexpected = 5;
#endif
    for (int round = 0; round < 2; round++) { /* a listing leaves no position behind */
        const listing_t none = {"", 0, 0};
        listing = none;
        CHECK_EQ(vczi_folder_list(&folder, "", note_entry, &listing), 0);
        CHECK_EQ(listing.nentries, nexpected);
        CHECK(strstr(listing.text, "[a:1]") != NULL);
        CHECK(strstr(listing.text, "[sub:2]") != NULL);
#ifndef _WIN32
        CHECK(strstr(listing.text, "[link to a:1]") != NULL);
        CHECK(strstr(listing.text, "[link to sub:4]") != NULL);
        CHECK(strstr(listing.text, "[fifo:3]") != NULL);
#endif
    }
    const listing_t ending = {"", 0, 2};
    listing = ending;
    CHECK_EQ(vczi_folder_list(&folder, "", note_entry, &listing), 42);
    CHECK_EQ(listing.nentries, 2);
    const listing_t none = {"", 0, 0};
    listing = none;
    CHECK_EQ(vczi_folder_list(&folder, "sub", note_entry, &listing), 0);
    CHECK_STR(listing.text, "[b:1]");
    CHECK_EQ(vczi_folder_list(&folder, "absent", note_entry, &listing), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczi_folder_list(&folder, "a", note_entry, &listing), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczi_folder_list(&folder, root, note_entry, &listing), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(listing.nentries, 1);
    vczi_folder_close(&folder);
}

static void test_names_beyond_ascii(void) {
    vczi_folder_t folder;
    vczi_file_t file;
    int kind = 0;
    REQUIRE(vczi_folder_open(&folder, root) == 0);
#ifndef _WIN32 /* fopen there takes no UTF-8 */
    listing_t listing = {"", 0, 0};
    CHECK_EQ(make_folder(at("größe")), 0);
    write_file("größe/日本", "x", 1);
    CHECK_EQ(vczi_folder_open_file(&folder, "größe/日本", &file), 0);
    vczi_file_close(&file);
    CHECK_EQ(vczi_folder_list(&folder, "größe", note_entry, &listing), 0);
    CHECK_STR(listing.text, "[日本:1]");
#endif
    CHECK_EQ(vczi_folder_open_file(&folder,
                                   "gr\xf6\xdf"
                                   "e",
                                   &file),
             VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczi_path_kind(at("gr\xf6\xdf"
                               "e"),
                            &kind),
             0);
    CHECK_EQ(kind, VCZI_PATH_ABSENT);
    vczi_folder_close(&folder);
}

static bool make_root(void) {
#ifdef _WIN32
    const char *temporary = getenv("TEMP");
    (void) snprintf(root, sizeof(root), "%s/vczc_test_file_%u", temporary == NULL ? "." : temporary,
                    (unsigned) GetCurrentProcessId());
    return make_folder(root) == 0 && change_folder(root) == 0;
#else
    const char *temporary = getenv("TMPDIR");
    char pattern[400];
    (void) snprintf(pattern, sizeof(pattern), "%s/vczc_test_file_XXXXXX", temporary == NULL ? "/tmp" : temporary);
    /* The working directory is known by its path without links. */
    return mkdtemp(pattern) != NULL && chdir(pattern) == 0 && getcwd(root, sizeof(root)) != NULL;
#endif
}

static void remove_root(void) {
    char command[600];
    (void) change_folder("/");
#ifdef _WIN32
    (void) snprintf(command, sizeof(command), "rmdir /s /q \"%s\"", root);
#else
    (void) snprintf(command, sizeof(command), "rm -rf '%s'", root);
#endif
    CHECK_EQ(system(command), 0);
}

int main(void) {
    if (!CHECK(make_root())) {
        return check_result();
    }
    RUN(test_read_within_and_beyond);
    RUN(test_what_does_not_open);
#ifndef _WIN32
    RUN(test_special_files_are_refused);
    RUN(test_no_descriptor_left_is_no_absence);
    RUN(test_descriptors_are_closed);
#endif
    RUN(test_path_kind_and_absolute);
    RUN(test_map);
    RUN(test_change_is_found_out);
#ifndef _WIN32
    RUN(test_replacement_is_found_out);
#endif
    RUN(test_folder);
    RUN(test_folder_removed);
    RUN(test_folder_list);
    RUN(test_names_beyond_ascii);
    remove_root();
    return check_result();
}
