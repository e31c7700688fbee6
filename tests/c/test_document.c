/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Documents of both formats: what they become, and by which words they are refused. */
#include "document.h"

#include <stdlib.h>

#include "check.h"
#include "mem.h"
#include "status.h"

#define V2                                                                                                             \
    "\"zarr_format\":2,\"shape\":[10,4],\"chunks\":[3,4],\"dtype\":\"<i4\",\"compressor\":null,\"fill_value\":0,"      \
    "\"order\":\"C\",\"filters\":null"
#define V3                                                                                                             \
    "\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[10,4],\"data_type\":\"int32\",\"fill_value\":0,"             \
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[3,4]}},"                                 \
    "\"chunk_key_encoding\":{\"name\":\"default\"},"                                                                   \
    "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},{\"name\":\"zstd\"}]"

/* `base` with `change` behind it: of equal keys the last counts. `attributes` may be NULL. */
static int read_document(vczi_document_t *doc, const char *base, const char *change, const char *attributes) {
    static char text[4096];
    vczi_json_doc_t *tree = NULL;
    vczi_json_doc_t *attrs = NULL;
    snprintf(text, sizeof(text), "{%s%s%s}", base, change[0] == '\0' || base[0] == '\0' ? "" : ",", change);
    if (vczi_json_parse(&tree, vczi_span(text, strlen(text)), "x") != 0 ||
        (attributes != NULL && vczi_json_parse(&attrs, vczi_span(attributes, strlen(attributes)), "x") != 0)) {
        fprintf(stderr, "not JSON: %s\n", text);
        abort();
    }
    const vczi_json_t *root = vczi_json_root(tree);
    int format = base[0] == '\0' ? 2 : base[14] - '0'; /* behind "zarr_format": */
    const int ret =
        format == 3
            ? vczi_document_parse_v3(doc, tree, root, "x/zarr.json")
            : vczi_document_parse_v2_array(doc, tree, root, attrs == NULL ? NULL : vczi_json_root(attrs), "x/.zarray");
    if (ret != 0) {
        vczi_json_close(tree); /* still ours; and the document holds nothing */
        CHECK(doc->tree == NULL && doc->fill == NULL && doc->dims == NULL);
    }
    vczi_json_close(attrs);
    return ret;
}

static void check_refused(const char *base, const char *change, int code, const char *why) {
    vczi_document_t doc;
    const int ret = read_document(&doc, base, change, NULL);
    if (!CHECK_EQ(ret, code) || !CHECK(strstr(vczi_detail_view()->reason, why) != NULL) ||
        !CHECK(strncmp(vczi_detail_view()->reason, "x/", 2) == 0)) {
        fprintf(stderr, "    %s gives: %s\n", change, vczi_detail_view()->reason);
    }
    if (ret == 0) {
        vczi_document_clear(&doc);
    }
}

/* The codecs as "name name", with a star where they come from format 2. */
static const char *codecs_of(const vczi_document_t *doc) {
    static char text[1024];
    text[0] = '\0';
    for (int i = 0; i < doc->ncodecs; i++) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s", i == 0 ? "" : " ", doc->codecs[i].name,
                 doc->codecs[i].from_v2 ? "*" : "");
    }
    return text;
}

static void a_plain_array_of_format_2(void) {
    vczi_document_t doc;
    REQUIRE(read_document(&doc, V2, "", NULL) == 0);
    CHECK(doc.kind == VCZC_NODE_ARRAY && doc.zarr_format == 2 && doc.dtype.kind == VCZC_INT32 && !doc.big_endian);
    CHECK(doc.grid.ndim == 2 && doc.grid.shape[0] == 10 && doc.grid.chunks[0] == 3 && doc.grid.nchunks == 4);
    CHECK(doc.order == 'C' && doc.keys.separator == '.' && !doc.keys.has_c_prefix);
    CHECK(doc.fill_nbytes == 4 && !doc.fill_is_null && doc.dims == NULL);
    CHECK_STR(codecs_of(&doc), "bytes*");
    CHECK(doc.codecs[0].config == NULL);
    vczi_document_clear(&doc);
    vczi_document_clear(&doc); /* a cleared one is nothing */
}

static void codecs_of_format_2(void) {
    static const struct {
        const char *change, *codecs;
        int kind;
    } cases[] = {
        {"\"order\":\"F\",\"compressor\":{\"id\":\"blosc\",\"cname\":\"zstd\"}", "transpose* bytes* blosc*",
         VCZC_INT32},
        {"\"order\":\"F\",\"shape\":[3],\"chunks\":[3]", "bytes*", VCZC_INT32},
        {"\"filters\":[]", "bytes*", VCZC_INT32},
        {"\"filters\":[{\"id\":\"delta\"},{\"id\":\"packbits\"}],\"compressor\":{\"id\":\"zlib\"}",
         "delta* packbits* bytes* zlib*", VCZC_INT32},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-utf8\"}],\"compressor\":{\"id\":\"blosc\"}", "vlen-utf8* blosc*",
         VCZC_VLEN_UTF8},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-bytes\"},{\"id\":\"crc32\"}],\"order\":\"F\"",
         "transpose* vlen-bytes* crc32*", VCZC_VLEN_BYTES},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        vczi_document_t doc;
        REQUIRE(read_document(&doc, V2, cases[i].change, NULL) == 0);
        CHECK_STR(codecs_of(&doc), cases[i].codecs);
        CHECK_EQ(doc.dtype.kind, cases[i].kind);
        const vczi_codec_spec_t *last = &doc.codecs[doc.ncodecs - 1];
        CHECK(last->config == NULL || vczi_json_text_equals(vczi_json_member(last->config, "id"), last->name));
        vczi_document_clear(&doc);
    }
}

static void the_rest_of_format_2(void) {
    vczi_document_t doc;
    REQUIRE(read_document(&doc, V2,
                          "\"dtype\":\">f4\",\"fill_value\":null,\"dimension_separator\":\"/\",\"order\":\"F\"",
                          NULL) == 0);
    CHECK(doc.big_endian && doc.fill_is_null && doc.keys.separator == '/' && doc.order == 'F');
    vczi_document_clear(&doc);
    REQUIRE(read_document(&doc, V2, "\"shape\":[],\"chunks\":[]", "{\"_ARRAY_DIMENSIONS\":[]}") == 0);
    CHECK(doc.grid.nchunks == 1 && doc.dims != NULL);
    vczi_document_clear(&doc);
    REQUIRE(read_document(&doc, V2, "\"shape\":[0,5],\"chunks\":[0,5]", NULL) == 0);
    CHECK(doc.grid.chunks[0] == 1 && doc.grid.nchunks == 0);
    vczi_document_clear(&doc);
}

static void dims_of_format_2(void) {
    static const char *const ignored[] = {"{}",
                                          "{\"_ARRAY_DIMENSIONS\":5}",
                                          "{\"_ARRAY_DIMENSIONS\":[\"a\"]}",
                                          "{\"_ARRAY_DIMENSIONS\":[\"a\",5]}",
                                          "{\"_ARRAY_DIMENSIONS\":[\"a\",null]}",
                                          "{\"_ARRAY_DIMENSIONS\":[\"a\",\"b\\u0000c\"]}",
                                          "[]"};
    vczi_document_t doc;
    REQUIRE(read_document(&doc, V2, "", "{\"_ARRAY_DIMENSIONS\":[\"variants\",\"\xc3\xa9\"]}") == 0);
    CHECK(doc.dims != NULL);
    CHECK_STR(doc.dims[0], "variants");
    CHECK_STR(doc.dims[1], "\xc3\xa9");
    vczi_document_clear(&doc);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
        REQUIRE(read_document(&doc, V2, "", ignored[i]) == 0);
        CHECK(doc.dims == NULL);
        vczi_document_clear(&doc);
    }
}

static void format_2_is_refused_by_name(void) {
    static const struct {
        const char *change;
        int code;
        const char *why;
    } cases[] = {
        {"\"zarr_format\":3", VCZC_ERR_METADATA, "zarr_format"},
        {"\"zarr_format\":\"2\"", VCZC_ERR_METADATA, "zarr_format"},
        {"\"shape\":\"12\"", VCZC_ERR_METADATA, "x/.zarray: 'shape' must be an array, not a text"},
        {"\"shape\":[12.5,4]", VCZC_ERR_METADATA, "'shape' must be an array of integers"},
        {"\"shape\":[12.0,4]", VCZC_ERR_METADATA, "'shape'"},
        {"\"shape\":[-3,4]", VCZC_ERR_METADATA, "-3"},
        {"\"shape\":[1180591620717411303424,4]", VCZC_ERR_METADATA, "'shape'"},
        {"\"shape\":[9223372036854775807,4]", VCZC_ERR_METADATA, "64 bits"},
        {"\"shape\":[true,4]", VCZC_ERR_METADATA, "'shape'"},
        {"\"shape\":[4]", VCZC_ERR_METADATA, "1 axes"},
        {"\"chunks\":[3,0]", VCZC_ERR_METADATA, "length 0"},
        {"\"chunks\":[9223372036854775807,4]", VCZC_ERR_METADATA, "a chunk"},
        {"\"chunks\":[2305843009213693952,1]", VCZC_ERR_METADATA, "bytes"}, /* 2^61 items of 4 bytes */
        {"\"chunks\":null", VCZC_ERR_METADATA, "'chunks'"},
        {"\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", VCZC_ERR_METADATA, "33"},
        {"\"dtype\":\"<c32\"", VCZC_ERR_UNSUPPORTED, "<c32"},
        {"\"dtype\":\"<i5\"", VCZC_ERR_METADATA, "<i5"},
        {"\"dtype\":\"|O\"", VCZC_ERR_METADATA, "|O"},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"json2\"}]", VCZC_ERR_UNSUPPORTED, "json2"},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-array\"}]", VCZC_ERR_UNSUPPORTED, "vlen-array"},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"delta\"}]", VCZC_ERR_METADATA, "|O"},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-utf8\"},{\"id\":\"vlen-utf8\"}]", VCZC_ERR_METADATA,
         "one filter"},
        {"\"filters\":[{\"id\":\"vlen-utf8\"}]", VCZC_ERR_METADATA, "vlen-utf8"},
        {"\"filters\":{}", VCZC_ERR_METADATA, "'filters'"},
        {"\"filters\":[5]", VCZC_ERR_METADATA, "filter"},
        {"\"filters\":[{\"name\":\"delta\"}]", VCZC_ERR_METADATA, "'id'"},
        {"\"compressor\":\"zlib\"", VCZC_ERR_METADATA, "compressor"},
        {"\"compressor\":{\"id\":null}", VCZC_ERR_METADATA, "'id'"},
        {"\"compressor\":{\"id\":\"\"}", VCZC_ERR_METADATA, "name"},
        {"\"compressor\":{\"id\":\"0123456789012345678901234567890123456789012345678901234567890123\"}",
         VCZC_ERR_UNSUPPORTED, "01234567890123456789"},
        {"\"order\":\"A\"", VCZC_ERR_METADATA, "'order'"},
        {"\"order\":null", VCZC_ERR_METADATA, "'order'"},
        {"\"dimension_separator\":\"-\"", VCZC_ERR_METADATA, "'dimension_separator'"},
        {"\"dimension_separator\":null", VCZC_ERR_METADATA, "'dimension_separator'"},
        {"\"fill_value\":1.5", VCZC_ERR_METADATA, "'fill_value': 1.5"},
        {"\"filters\":[{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":"
         "\"a\"},{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":\"a\"},"
         "{\"id\":\"a\"},{\"id\":\"a\"},{\"id\":\"a\"}]",
         VCZC_ERR_UNSUPPORTED, "more than 16"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_refused(V2, cases[i].change, cases[i].code, cases[i].why);
    }
    check_refused("", "\"shape\":[]", VCZC_ERR_METADATA, "'zarr_format' is missing");
    check_refused("", "\"zarr_format\":2", VCZC_ERR_METADATA, "'shape' is missing");
    check_refused("", "\"zarr_format\":2,\"shape\":[],\"chunks\":[]", VCZC_ERR_METADATA, "'dtype': is missing");
}

static void a_plain_array_of_format_3(void) {
    vczi_document_t doc;
    REQUIRE(read_document(&doc, V3, "\"dimension_names\":[\"variants\",null],\"attributes\":{\"a\":1}", NULL) == 0);
    CHECK(doc.kind == VCZC_NODE_ARRAY && doc.zarr_format == 3 && doc.dtype.kind == VCZC_INT32 && !doc.big_endian);
    CHECK(doc.keys.has_c_prefix && doc.keys.separator == '/' && doc.order == 'C');
    CHECK_STR(codecs_of(&doc), "bytes zstd");
    CHECK(vczi_json_text_equals(vczi_json_member(doc.codecs[0].config, "endian"), "little"));
    CHECK(doc.codecs[1].config == NULL);
    CHECK(doc.dims != NULL && doc.dims[1] == NULL);
    CHECK_STR(doc.dims[0], "variants");
    vczi_document_clear(&doc);
}

static void the_rest_of_format_3(void) {
    static const struct {
        const char *change;
        bool has_c_prefix;
        char separator;
    } keys[] = {
        {"\"chunk_key_encoding\":{\"name\":\"default\",\"configuration\":{\"separator\":\".\"}}", true, '.'},
        {"\"chunk_key_encoding\":{\"name\":\"v2\"}", false, '.'},
        {"\"chunk_key_encoding\":{\"name\":\"v2\",\"configuration\":{\"separator\":\"/\"}}", false, '/'},
        {"\"chunk_key_encoding\":{\"name\":\"v2\",\"separator\":\"/\"}", false, '/'},
        {"\"chunk_key_encoding\":\"v2\"", false, '.'},
    };
    static const char *const fine[] = {
        "\"extra\":{\"must_understand\":false}",
        "\"storage_transformers\":[]",
        "\"storage_transformers\":[{\"name\":\"log\",\"must_understand\":false}]",
        "\"dimension_names\":null",
        "\"attributes\":null",
        "\"codecs\":[{\"name\":\"frobnicate\"}]",
        "\"codecs\":[\"bytes\"]",
        "\"data_type\":\"string\",\"fill_value\":\"\",\"codecs\":[{\"name\":\"vlen-utf8\"}]",
    };
    static const char *const big[] = {
        "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]",
        "\"codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1,1],\"codecs\":[{\"name\":"
        "\"bytes\",\"configuration\":{\"endian\":\"big\"}}]}}]",
        "\"codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1,1],\"codecs\":[{\"name\":"
        "\"sharding_indexed\","
        "\"configuration\":{\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]}}]}}]",
    };
    vczi_document_t doc;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        REQUIRE(read_document(&doc, V3, keys[i].change, NULL) == 0);
        CHECK(doc.keys.has_c_prefix == keys[i].has_c_prefix && doc.keys.separator == keys[i].separator);
        vczi_document_clear(&doc);
    }
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        if (!CHECK_EQ(read_document(&doc, V3, fine[i], NULL), 0)) {
            fprintf(stderr, "    %s: %s\n", fine[i], vczi_detail_view()->reason);
            continue;
        }
        CHECK(!doc.big_endian && doc.dims == NULL);
        vczi_document_clear(&doc);
    }
    for (size_t i = 0; i < sizeof(big) / sizeof(big[0]); i++) {
        REQUIRE(read_document(&doc, V3, big[i], NULL) == 0);
        CHECK(doc.big_endian);
        vczi_document_clear(&doc);
    }
}

static void format_3_is_refused_by_name(void) {
    static const struct {
        const char *change;
        int code;
        const char *why;
    } cases[] = {
        {"\"zarr_format\":4", VCZC_ERR_METADATA, "must be 3, not 4"},
        {"\"node_type\":\"table\"", VCZC_ERR_METADATA, "table"},
        {"\"node_type\":null", VCZC_ERR_METADATA, "'node_type'"},
        {"\"shape\":[-3,4]", VCZC_ERR_METADATA, "-3"},
        {"\"shape\":\"12\"", VCZC_ERR_METADATA, "'shape'"},
        {"\"shape\":[12.5,4]", VCZC_ERR_METADATA, "'shape'"},
        {"\"shape\":[1180591620717411303424,4]", VCZC_ERR_METADATA, "'shape'"},
        {"\"chunk_grid\":{\"name\":\"rectilinear\"}", VCZC_ERR_UNSUPPORTED, "rectilinear"},
        {"\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[0,4]}}", VCZC_ERR_METADATA,
         "length 0"},
        {"\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[5]}}", VCZC_ERR_METADATA, "axes"},
        {"\"chunk_grid\":{\"name\":\"regular\"}", VCZC_ERR_METADATA, "chunk_shape"},
        {"\"chunk_grid\":{}", VCZC_ERR_METADATA, "chunk_grid"},
        {"\"data_type\":\"float8_e4m3\"", VCZC_ERR_UNSUPPORTED, "float8_e4m3"},
        {"\"data_type\":null", VCZC_ERR_METADATA, "data_type"},
        {"\"fill_value\":null", VCZC_ERR_METADATA, "'fill_value'"},
        {"\"fill_value\":1.5", VCZC_ERR_METADATA, "1.5"},
        {"\"chunk_key_encoding\":{\"name\":\"hilbert\"}", VCZC_ERR_UNSUPPORTED, "hilbert"},
        {"\"chunk_key_encoding\":{\"name\":\"v2\",\"configuration\":{\"separator\":\"-\"}}", VCZC_ERR_METADATA,
         "separator"},
        {"\"storage_transformers\":[{\"name\":\"teleport\",\"configuration\":{}}]", VCZC_ERR_UNSUPPORTED, "teleport"},
        {"\"storage_transformers\":[{\"name\":\"log\",\"must_understand\":false},\"teleport\"]", VCZC_ERR_UNSUPPORTED,
         "teleport"},
        {"\"storage_transformers\":{}", VCZC_ERR_METADATA, "storage_transformers"},
        {"\"novelty\":{\"name\":\"n\",\"must_understand\":true}", VCZC_ERR_UNSUPPORTED, "novelty"},
        {"\"novelty\":{}", VCZC_ERR_UNSUPPORTED, "novelty"},
        {"\"novelty\":5", VCZC_ERR_UNSUPPORTED, "novelty"},
        {"\"novelty\":{\"must_understand\":0}", VCZC_ERR_UNSUPPORTED, "novelty"},
        {"\"codecs\":[]", VCZC_ERR_METADATA, "codecs"},
        {"\"codecs\":{}", VCZC_ERR_METADATA, "codecs"},
        {"\"codecs\":[{}]", VCZC_ERR_METADATA, "codecs"},
        {"\"dimension_names\":[\"a\"]", VCZC_ERR_METADATA, "dimension_names"},
        {"\"dimension_names\":[\"a\",5]", VCZC_ERR_METADATA, "dimension_names"},
        {"\"attributes\":[]", VCZC_ERR_METADATA, "attributes"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_refused(V3, cases[i].change, cases[i].code, cases[i].why);
    }
}

static void groups(void) {
    static const char v2[] = "{\"zarr_format\":2}";
    static const char old[] = "{\"zarr_format\":1}";
    vczi_document_t doc;
    vczi_json_doc_t *tree = NULL;
    REQUIRE(vczi_json_parse(&tree, vczi_span(v2, strlen(v2)), "x") == 0);
    REQUIRE(vczi_document_parse_v2_group(&doc, tree, vczi_json_root(tree), "x/.zgroup") == 0);
    CHECK(doc.kind == VCZC_NODE_GROUP && doc.zarr_format == 2);
    vczi_document_clear(&doc);
    REQUIRE(vczi_json_parse(&tree, vczi_span(old, strlen(old)), "x") == 0);
    CHECK_EQ(vczi_document_parse_v2_group(&doc, tree, vczi_json_root(tree), "x/.zgroup"), VCZC_ERR_METADATA);
    vczi_json_close(tree);
    REQUIRE(read_document(&doc, "\"zarr_format\":3,\"node_type\":\"group\"",
                          "\"consolidated_metadata\":{\"metadata\":{}},\"attributes\":{}", NULL) == 0);
    CHECK(doc.kind == VCZC_NODE_GROUP && doc.zarr_format == 3 && doc.ncodecs == 0);
    vczi_document_clear(&doc);
    check_refused("\"zarr_format\":3,\"node_type\":\"group\"", "\"shape\":[]", VCZC_ERR_UNSUPPORTED, "shape");
}

#ifdef VCZI_TEST_FAULTS
static void no_memory_is_said(void) {
    static const char *const changes[] = {
        "\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-utf8\"}],\"fill_value\":\"abc\"",
        "\"dtype\":\"|S3\",\"fill_value\":\"QUI=\"", "\"fill_value\":\"5\""};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        char text[1024];
        static const char attributes[] = "{\"_ARRAY_DIMENSIONS\":[\"a\",\"b\"]}";
        int ret = VCZC_ERR_NO_MEMORY;
        snprintf(text, sizeof(text), "{%s,%s}", V2, changes[i]);
        for (long n = 1; n < 50 && ret != 0; n++) {
            vczi_document_t doc;
            vczi_json_doc_t *tree = NULL;
            vczi_json_doc_t *attrs = NULL;
            REQUIRE(vczi_json_parse(&tree, vczi_span(text, strlen(text)), "x") == 0);
            REQUIRE(vczi_json_parse(&attrs, vczi_span(attributes, strlen(attributes)), "x") == 0);
            vczi_test_fail_allocation(n);
            ret = vczi_document_parse_v2_array(&doc, tree, vczi_json_root(tree), vczi_json_root(attrs), "x");
            vczi_test_fail_allocation(0);
            CHECK(n == 1 ? ret == VCZC_ERR_NO_MEMORY : ret == 0 || ret == VCZC_ERR_NO_MEMORY);
            vczi_json_close(attrs);
            if (ret == 0) {
                vczi_document_clear(&doc);
            } else {
                vczi_json_close(tree);
            }
        }
        CHECK_EQ(ret, 0);
    }
}
#endif

int main(void) {
    RUN(a_plain_array_of_format_2);
    RUN(codecs_of_format_2);
    RUN(the_rest_of_format_2);
    RUN(dims_of_format_2);
    RUN(format_2_is_refused_by_name);
    RUN(a_plain_array_of_format_3);
    RUN(the_rest_of_format_3);
    RUN(format_3_is_refused_by_name);
    RUN(groups);
#ifdef VCZI_TEST_FAULTS
    RUN(no_memory_is_said);
#endif
    return check_result();
}
