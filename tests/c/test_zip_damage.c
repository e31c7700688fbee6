/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Zip archives that vczc does not read, that lie, or that are damaged. */
#include "open_zip.h"

static void test_what_is_not_read_is_named(void) {
    static const struct {
        uint16_t method, flags, disk;
        const char *word;
    } kinds[] = {{12, 0, 0, "bzip2"},    {14, 0, 0, "LZMA"},     {93, 0, 0, "zstd"},  {99, 1, 0, "encrypted"},
                 {0, 1, 0, "encrypted"}, {9, 0, 0, "deflate64"}, {1000, 0, 0, "255"}, {0, 0, 3, "split"}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        zip_begin();
        zip_add("top", "", 0);
        made_entry_t *entry = zip_add("x", "data", 0);
        entry->method = kinds[i].method;
        entry->flags = kinds[i].flags;
        entry->disk = kinds[i].disk;
        zip_finish("");
        REQUIRE(open_zip() == 0);
        expect("x", VCZC_ERR_UNSUPPORTED, NULL);
        CHECK(strstr(reason(), kinds[i].word) != NULL);
        CHECK(strstr(reason(), "'x'") != NULL);
        expect("top", 0, "");
        close_zip();
    }
}

static void test_split_and_encrypted_archives(void) {
    make_usual();
    zip_finish("");
    zip_patch(zip.end + 4, 1, 2);
    zip_patch(zip.end + 6, 1, 2);
    CHECK_EQ(try_open(), VCZC_ERR_UNSUPPORTED);
    make_usual();
    zip.entries[0].flags = 0x2001;
    zip_finish("");
    CHECK_EQ(try_open(), VCZC_ERR_UNSUPPORTED);
    make_usual();
    zip_finish("");
    zip_patch(zip.directory, 0x08064b50, 4);
    CHECK_EQ(try_open(), VCZC_ERR_UNSUPPORTED);
}

static void test_sizes_that_lie(void) {
    zip_begin();
    zip_add("longer", "stored", 0)->raw_nbytes++;
    zip_add("past", "stored", 0)->stored_nbytes = 100000;
    zip.entries[1].raw_nbytes = 100000;
    zip_add("more", "deflated deflated", 8)->raw_nbytes++;
    zip_add("fewer", "deflated deflated", 8)->raw_nbytes--;
    zip_add("bomb", "deflated deflated", 8)->raw_nbytes = UINT32_MAX - 1;
    zip_add("cut", long_text, 8)->stored_nbytes--;
    zip_add("behind", long_text, 8)->stored_nbytes++;
    zip_add("offset", "data", 0)->header += 1;
    zip_add("beyond", "data", 0)->header = 0x7fffffff;
    zip_add("directory", "data", 0);
    zip_add("top", "", 0);
    zip.entries[9].header = (uint32_t) zip.nbytes; /* the directory itself */
    zip_finish("");
    REQUIRE(open_zip() == 0);
    for (int i = 0; i < 10; i++) {
        expect(zip.entries[i].name, VCZC_ERR_CORRUPT, NULL);
        CHECK(strstr(reason(), zip.entries[i].name) != NULL);
    }
    expect("top", 0, "");
    close_zip();
}

static void test_checksums(void) {
    make_usual();
    zip.entries[2].checksum ^= 1;
    zip.entries[3].checksum ^= 1;
    zip_finish("");
    REQUIRE(open_bytes(zip.bytes, zip.nbytes, 0) == 0);
    expect_usual(); /* not looked at */
    close_zip();
    REQUIRE(open_bytes(zip.bytes, zip.nbytes, VCZC_OPEN_VERIFY) == 0);
    for (int i = 0; i < 2; i++) {
        vczi_bytes_t bytes;
        expect("x/0", VCZC_ERR_CORRUPT, NULL);
        CHECK(strstr(reason(), "CRC-32") != NULL);
        expect("x/1", VCZC_ERR_CORRUPT, NULL);
        CHECK_EQ(vczi_store_get_range(store, "x/0", 0, 1, scratch, &bytes), VCZC_ERR_CORRUPT);
        expect(".zgroup", 0, "{}");
        expect("x/.zarray", 0, "{\"zarr_format\": 2}");
    }
    /* Once it has been checked it is not checked again. */
    if (in_file == NULL) {
        archive[zip.entries[0].header + 30 + 7 + 7] = '[';
        expect(".zgroup", 0, "[}");
    }
    close_zip();
    make_usual();
    zip_finish("");
    CHECK_EQ(open_bytes(zip.bytes, zip.nbytes, 2), VCZC_ERR_ARGUMENT);
    close_zip();
}

static void test_every_truncation(void) {
    make_usual();
    zip_finish("comment");
    for (size_t nbytes = 0; nbytes < zip.nbytes; nbytes++) {
        const int ret = open_bytes(zip.bytes, nbytes, 0);
        close_zip();
        if (!CHECK_EQ(ret, VCZC_ERR_STORE)) return;
    }
    make_usual();
    zip_finish("");
    zip.nbytes /= 2;
    CHECK_EQ(try_open(), VCZC_ERR_STORE);
    CHECK(strstr(reason(), "truncated") != NULL);
    CHECK_EQ(open_bytes("just a text, and no archive at all", 34, 0), VCZC_ERR_STORE);
    CHECK(strstr(reason(), "neither") != NULL);
    close_zip();
}

static int read_one(void *user, const char *key, size_t key_nbytes) {
    vczi_bytes_t bytes;
    char copy[300] = "";
    uint64_t nbytes;
    (void) user;
    memcpy(copy, key, key_nbytes < sizeof(copy) ? key_nbytes : 0);
    const int ret = vczi_store_get(store, copy, scratch, &bytes);
    CHECK(ret <= 0 && ret >= VCZC_ERR_LAST);
    if (ret == 0 && CHECK_EQ(vczi_store_size(store, copy, &nbytes), 0)) CHECK_EQ(nbytes, bytes.span.nbytes);
    vczi_bytes_release(&bytes);
    return 0;
}

/* Damage of a byte at a time: an error, or an archive that is another one, and nothing worse. */
static void test_damaged_bytes(void) {
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    make_usual();
    zip_add_extra(&zip.entries[1], 1, "12345678123456781234567812345678", 28);
    zip_put_directory();
    zip_put_end64((uint64_t) zip.nentries, zip.directory_nbytes, zip.directory);
    zip_put_end(UINT16_MAX, UINT32_MAX, UINT32_MAX, "c");
    for (size_t i = 0; i < zip.nbytes; i++) {
        for (int change = 0; change < 3; change++) {
            zip.bytes[i] ^= changes[change];
            const int ret = open_bytes(zip.bytes, zip.nbytes, i % 2);
            CHECK(ret == 0 || ret == VCZC_ERR_STORE || ret == VCZC_ERR_UNSUPPORTED);
            if (ret == 0) CHECK_EQ(vczi_store_list(store, "", read_one, NULL), 0);
            close_zip();
            zip.bytes[i] ^= changes[change];
        }
    }
}

#ifdef VCZI_TEST_FAULTS
static void test_each_allocation_fails(void) {
    make_usual();
    zip_add("a\\b", "", 0);
    zip_put_directory();
    zip_put_end(1, zip.directory_nbytes, zip.directory, "");
    for (long count = 1;; count++) {
        vczi_bytes_t bytes = {0};
        vczi_scratch_return(vczi_scratch_borrow()); /* so that it is there already */
        put_archive(zip.bytes, zip.nbytes);
        vczi_test_fail_allocation(count);
        int ret = open_archive(zip.nbytes, VCZC_OPEN_VERIFY);
        CHECK((ret == 0) == (store != NULL));
        if (ret == 0) ret = vczi_store_get(store, "x/1", NULL, &bytes);
        listed[0] = '\0';
        if (ret == 0) ret = vczi_store_list_folder(store, "", append, NULL);
        vczi_test_fail_allocation(0);
        vczi_bytes_release(&bytes);
        vczi_store_release(store);
        store = NULL;
        free(archive);
        archive = NULL;
        if (ret == 0) {
            CHECK(count > 8);
            return;
        }
        REQUIRE(ret == VCZC_ERR_NO_MEMORY && count < 100);
    }
}
#endif

static void run_tests(void) {
    RUN(test_what_is_not_read_is_named);
    RUN(test_split_and_encrypted_archives);
    RUN(test_sizes_that_lie);
    RUN(test_checksums);
    RUN(test_every_truncation);
    RUN(test_damaged_bytes);
#ifdef VCZI_TEST_FAULTS
    RUN(test_each_allocation_fails);
#endif
}

int main(void) {
    return run_both_ways(run_tests);
}
