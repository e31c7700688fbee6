/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* JSON: what is taken and refused, numbers at their edges, and that writing gives back what was read. */
#include "json.h"

#include <math.h>
#include <stdlib.h>

#include "ceilings.h"
#include "check.h"
#include "mem.h"
#include "status.h"

static vczi_json_doc_t *parse(const char *text) {
    vczi_json_doc_t *doc = NULL;
    CHECK_EQ(vczi_json_parse(&doc, vczi_span(text, strlen(text)), "x/.zarray"), 0);
    return doc;
}

static void check_refused(const void *text, size_t nbytes, const char *why) {
    vczi_json_doc_t *doc = (vczi_json_doc_t *) 1;
    CHECK_EQ(vczi_json_parse(&doc, vczi_span(text, nbytes), "x/.zarray"), VCZC_ERR_METADATA);
    CHECK(doc == NULL);
    if (!CHECK(strstr(vczi_detail_view()->reason, why) != NULL)) {
        fprintf(stderr, "    %s\n", vczi_detail_view()->reason);
    }
    CHECK(strstr(vczi_detail_view()->reason, "x/.zarray") != NULL);
}

static void refuses_what_is_no_json(void) {
    static const char *const texts[] = {"{",     "{}{}",    "[1,]",   "{\"a\":1,}",  "'a'",  "/**/1",
                                        "nul",   "nan",     "inf",    "-inf",        "NAN",  "infinity",
                                        "-NaN",  "01",      "+1",     "\"\\ud800\"", "tru",  "\"a",
                                        "[1 2]", "\"\\x\"", "\"\n\"", "[nullx]",     "NaNa", "]"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        check_refused(texts[i], strlen(texts[i]), "not JSON");
    }
    check_refused("", 0, "empty");
    check_refused("\xef\xbb\xbf", 3, "empty");
    check_refused(" \n", 2, "not JSON");
    check_refused("\xff\xfe{}", 4, "not JSON");
    check_refused("\"\xc3\x28\"", 4, "not JSON");
    check_refused("{}\0", 3, "not JSON");
}

static void bounds_the_depth(void) {
    const size_t deep = 100000;
    char *text = malloc(deep);
    REQUIRE(text != NULL);
    memset(text, '[', deep);
    check_refused(text, deep, "deeper");
    memset(text, ']', deep);
    memset(text, '[', VCZI_MAX_JSON_DEPTH);
    vczi_json_doc_t *doc = NULL;
    CHECK_EQ(vczi_json_parse(&doc, vczi_span(text, 2 * VCZI_MAX_JSON_DEPTH), "x"), 0);
    vczi_json_close(doc);
    memset(text, '[', VCZI_MAX_JSON_DEPTH + 1);
    check_refused(text, 2 * (VCZI_MAX_JSON_DEPTH + 1), "deeper");
    /* Brackets in texts and behind escaped quotes are no depth. */
    memset(text, '[', deep);
    memcpy(text, "\"\\\"\\\\", 5);
    text[deep - 1] = '"';
    CHECK_EQ(vczi_json_parse(&doc, vczi_span(text, deep), "x"), 0);
    vczi_json_close(doc);
    free(text);
}

static void numbers_keep_their_type(void) {
    vczi_json_doc_t *doc = parse("[0, -1, 9223372036854775807, 9223372036854775808, 18446744073709551615, "
                                 "18446744073709551616, -9223372036854775808, -9223372036854775809, 1.0, 1e400, NaN, "
                                 "-Infinity, -0.0, true]");
    const vczi_json_t *list = vczi_json_root(doc);
    int64_t i = 7;
    uint64_t u = 7;
    double d = 7;
    CHECK_EQ(vczi_json_count(list), 14);
    CHECK(vczi_json_get_i64(vczi_json_item(list, 0), &i) && i == 0);
    CHECK(vczi_json_get_u64(vczi_json_item(list, 0), &u) && u == 0);
    CHECK(vczi_json_get_i64(vczi_json_item(list, 1), &i) && i == -1);
    CHECK(!vczi_json_get_u64(vczi_json_item(list, 1), &u));
    CHECK(vczi_json_get_i64(vczi_json_item(list, 2), &i) && i == INT64_MAX);
    CHECK(!vczi_json_get_i64(vczi_json_item(list, 3), &i));
    CHECK(vczi_json_get_u64(vczi_json_item(list, 4), &u) && u == UINT64_MAX);
    CHECK_EQ(vczi_json_type(vczi_json_item(list, 4)), VCZI_JSON_INTEGER);
    CHECK_EQ(vczi_json_type(vczi_json_item(list, 5)), VCZI_JSON_REAL);
    CHECK(!vczi_json_get_u64(vczi_json_item(list, 5), &u) && !vczi_json_get_i64(vczi_json_item(list, 5), &i));
    CHECK(vczi_json_get_double(vczi_json_item(list, 5), &d) && d == 18446744073709551616.0);
    CHECK(vczi_json_get_i64(vczi_json_item(list, 6), &i) && i == INT64_MIN);
    CHECK(!vczi_json_get_i64(vczi_json_item(list, 7), &i));
    CHECK(!vczi_json_get_i64(vczi_json_item(list, 8), &i));
    CHECK(vczi_json_get_double(vczi_json_item(list, 8), &d) && d == 1);
    CHECK(vczi_json_get_double(vczi_json_item(list, 9), &d) && isinf(d));
    CHECK(vczi_json_get_double(vczi_json_item(list, 10), &d) && isnan(d));
    CHECK(vczi_json_get_double(vczi_json_item(list, 11), &d) && isinf(d) && d < 0);
    CHECK(vczi_json_get_double(vczi_json_item(list, 12), &d) && d == 0 && signbit(d));
    CHECK(!vczi_json_get_double(vczi_json_item(list, 13), &d));
    CHECK(vczi_json_item(list, 14) == NULL);
    vczi_json_close(doc);
}

static void the_last_of_equal_keys_counts(void) {
    vczi_json_doc_t *doc = parse("{\"a\": 1, \"b\": 5, \"a\": 2, \"a\\u0000\": 3, \"\": 4}");
    const vczi_json_t *root = vczi_json_root(doc);
    int64_t i = 0;
    CHECK(vczi_json_get_i64(vczi_json_member(root, "a"), &i) && i == 2);
    CHECK(vczi_json_get_i64(vczi_json_member_span(root, vczi_span("a\0", 2)), &i) && i == 3);
    CHECK(vczi_json_get_i64(vczi_json_member(root, ""), &i) && i == 4);
    CHECK(vczi_json_member(root, "c") == NULL);
    CHECK(vczi_json_member(vczi_json_member(root, "a"), "a") == NULL);
    vczi_json_close(doc);
}

static void nothing_is_absent(void) {
    int64_t i;
    bool b;
    vczi_span_t text;
    CHECK_EQ(vczi_json_type(NULL), VCZI_JSON_ABSENT);
    CHECK_STR(vczi_json_type_name(NULL), "nothing");
    CHECK_EQ(vczi_json_count(NULL), 0);
    CHECK(vczi_json_item(NULL, 0) == NULL && vczi_json_member(NULL, "a") == NULL);
    CHECK(!vczi_json_get_i64(NULL, &i) && !vczi_json_get_bool(NULL, &b) && !vczi_json_get_text(NULL, &text));
    CHECK(!vczi_json_text_equals(NULL, ""));
    vczi_json_close(NULL);
}

static int stop_at_second(void *user, vczi_span_t key, const vczi_json_t *value) {
    int *n = user;
    (void) key;
    (void) value;
    return ++*n == 2 ? -100 : 0;
}

static void walks_members(void) {
    vczi_json_doc_t *doc = parse("{\"a\": 1, \"b\": [2, {}], \"c\": 3}");
    int n = 0;
    CHECK_EQ(vczi_json_each_member(vczi_json_root(doc), stop_at_second, &n), -100);
    CHECK_EQ(n, 2);
    n = 2;
    CHECK_EQ(vczi_json_each_member(vczi_json_root(doc), stop_at_second, &n), 0);
    CHECK_EQ(n, 5);
    n = 0;
    CHECK_EQ(vczi_json_each_member(vczi_json_member(vczi_json_root(doc), "a"), stop_at_second, &n), 0);
    CHECK_EQ(n, 0);
    vczi_json_close(doc);
}

static void needed_members_are_named(void) {
    vczi_json_doc_t *doc =
        parse("{\"shape\": \"12\", \"n\": 1.5, \"t\": 5, \"o\": null, \"ok\": [-3, \"x\", [1], {}]}");
    const vczi_json_t *root = vczi_json_root(doc);
    const vczi_json_t *found = NULL;
    int64_t i;
    vczi_span_t text;
    CHECK_EQ(vczi_json_need_array(root, "shape", "x/.zarray", &found), VCZC_ERR_METADATA);
    CHECK_STR(vczi_detail_view()->reason, "x/.zarray: 'shape' must be an array, not a text");
    CHECK_EQ(vczi_json_need_array(root, "gone", "x/.zarray", &found), VCZC_ERR_METADATA);
    CHECK_STR(vczi_detail_view()->reason, "x/.zarray: 'gone' is missing");
    CHECK_EQ(vczi_json_need_i64(root, "n", "d", &i), VCZC_ERR_METADATA);
    CHECK_STR(vczi_detail_view()->reason, "d: 'n' must be an integer of 64 bits, not a number");
    CHECK_EQ(vczi_json_need_text(root, "t", "d", &text), VCZC_ERR_METADATA);
    CHECK_STR(vczi_detail_view()->reason, "d: 't' must be a text, not an integer");
    CHECK_EQ(vczi_json_need_object(root, "o", "d", &found), VCZC_ERR_METADATA);
    CHECK_STR(vczi_detail_view()->reason, "d: 'o' must be an object, not null");
    CHECK(found == NULL);
    CHECK_EQ(vczi_json_need_array(root, "ok", "d", &found), 0);
    CHECK_EQ(vczi_json_count(found), 4);
    CHECK(vczi_json_get_text(vczi_json_item(found, 1), &text) && text.nbytes == 1 && text.data[0] == 'x');
    CHECK_EQ(vczi_json_count(vczi_json_item(found, 2)), 1); /* an array that is not flat */
    vczi_json_close(doc);
}

static void writes_what_was_read(void) {
    static const char all[] =
        "{\"a\":[1,-2,1.5,NaN,Infinity,-Infinity,null,true,false],\"b\":{\"c\":\"\xc3\xa9\\n\\u0000"
        "\"},\"big\":1180591620717411303424,\"huge\":1e400,\"zero\":-0.0,\"e\":{},\"f\":[]}";
    vczi_json_doc_t *doc = parse(all);
    char *text = NULL;
    size_t nbytes = 0;
    CHECK_EQ(vczi_json_write(vczi_json_root(doc), &text, &nbytes), 0);
    CHECK_STR(text, all);
    CHECK_EQ(nbytes, strlen(all));
    vczi_free(text);
    CHECK_EQ(vczi_json_write(vczi_json_member(vczi_json_root(doc), "big"), &text, &nbytes), 0);
    CHECK_STR(text, "1180591620717411303424");
    vczi_free(text);
    char excerpt[8];
    vczi_json_excerpt(vczi_json_member(vczi_json_root(doc), "b"), excerpt, sizeof(excerpt));
    CHECK_STR(excerpt, "{\"c\":\""); /* the character behind is two bytes, and there is room for one */
    vczi_json_excerpt(NULL, excerpt, sizeof(excerpt));
    CHECK_STR(excerpt, "");
    vczi_json_close(doc);
    doc = parse("\xef\xbb\xbf[1]");
    CHECK_EQ(vczi_json_count(vczi_json_root(doc)), 1);
    vczi_json_close(doc);
}

#ifdef VCZI_TEST_FAULTS
static void no_memory_is_said(void) {
    static const char text[] = "{\"a\":[1,2,3]}";
    int ret = VCZC_ERR_NO_MEMORY;
    for (long n = 1; n < 20 && ret != 0; n++) {
        vczi_json_doc_t *doc = NULL;
        vczi_test_fail_allocation(n);
        ret = vczi_json_parse(&doc, vczi_span(text, strlen(text)), "x");
        vczi_test_fail_allocation(0);
        CHECK(ret == 0 ? doc != NULL : ret == VCZC_ERR_NO_MEMORY && doc == NULL);
        vczi_json_close(doc);
    }
    CHECK_EQ(ret, 0);
}
#endif

int main(void) {
    RUN(refuses_what_is_no_json);
    RUN(bounds_the_depth);
    RUN(numbers_keep_their_type);
    RUN(the_last_of_equal_keys_counts);
    RUN(nothing_is_absent);
    RUN(walks_members);
    RUN(needed_members_are_named);
    RUN(writes_what_was_read);
#ifdef VCZI_TEST_FAULTS
    RUN(no_memory_is_said);
#endif
    return check_result();
}
