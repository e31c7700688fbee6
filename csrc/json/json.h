/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* JSON text to a tree, by yyjson (this is its only user), bounded in size and depth. As Python writes it: bare NaN,
 * Infinity and -Infinity are numbers. Typed getters; their failures are VCZC_ERR_METADATA and give the path. */
#ifndef VCZI_JSON_H
#define VCZI_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

typedef struct vczi_json_doc vczi_json_doc_t; /* owns a tree */
typedef struct vczi_json vczi_json_t;         /* one value of a tree; borrowed from it; NULL is "absent" */

typedef enum {
    VCZI_JSON_ABSENT = 0, /* of NULL */
    VCZI_JSON_NULL,
    VCZI_JSON_BOOL,
    VCZI_JSON_INTEGER, /* fits int64 or uint64 */
    VCZI_JSON_REAL,    /* NaN and infinities too */
    VCZI_JSON_TEXT,
    VCZI_JSON_ARRAY,
    VCZI_JSON_OBJECT
} vczi_json_type_t;

/* `text` without the byte order mark that some editors put first; Python passes over it too. */
static inline vczi_span_t vczi_json_without_bom(vczi_span_t text) {
    if (text.nbytes >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
        text.data += 3;
        text.nbytes -= 3;
    }
    return text;
}

/* Parse one document and nothing behind it. `what` names it in errors ("x/.zarray"). VCZC_ERR_METADATA where it is not
 * JSON, not UTF-8, too large or too deep. Of equal keys in an object the last counts, as in Python. */
int vczi_json_parse(vczi_json_doc_t **doc, vczi_span_t text, const char *what);
void vczi_json_close(vczi_json_doc_t *doc);
const vczi_json_t *vczi_json_root(const vczi_json_doc_t *doc);

vczi_json_type_t vczi_json_type(const vczi_json_t *value);
/* "an object", "a number", … for messages. */
const char *vczi_json_type_name(const vczi_json_t *value);

/* Values; false where the type is another one. A REAL that is a whole number is no integer here. */
bool vczi_json_get_bool(const vczi_json_t *value, bool *out);
bool vczi_json_get_i64(const vczi_json_t *value, int64_t *out);
bool vczi_json_get_u64(const vczi_json_t *value, uint64_t *out);
bool vczi_json_get_double(const vczi_json_t *value, double *out); /* INTEGER or REAL */
bool vczi_json_get_text(const vczi_json_t *value, vczi_span_t *out);
bool vczi_json_text_equals(const vczi_json_t *value, const char *text); /* false where it is no text */

/* The member `key` of an object, or NULL (also where `object` is no object). */
const vczi_json_t *vczi_json_member(const vczi_json_t *object, const char *key);
const vczi_json_t *vczi_json_member_span(const vczi_json_t *object, vczi_span_t key);

/* Items of an array or members of an object; 0 of all else. */
size_t vczi_json_count(const vczi_json_t *value);
/* Item `index` of an array; O(1) on flat arrays, else O(n). NULL where out of range. */
const vczi_json_t *vczi_json_item(const vczi_json_t *array, size_t index);

/* Walk an object: `tell` gets each member, equal keys each time; a non-zero result ends the walk and is returned. */
typedef int (*vczi_json_member_fn)(void *user, vczi_span_t key, const vczi_json_t *value);
int vczi_json_each_member(const vczi_json_t *object, vczi_json_member_fn tell, void *user);

/* Required members, for descriptions: VCZC_ERR_METADATA "`what`: 'key' is missing / must be …, not …". */
int vczi_json_need_i64(const vczi_json_t *object, const char *key, const char *what, int64_t *out);
int vczi_json_need_text(const vczi_json_t *object, const char *key, const char *what, vczi_span_t *out);
int vczi_json_need_array(const vczi_json_t *object, const char *key, const char *what, const vczi_json_t **out);
int vczi_json_need_object(const vczi_json_t *object, const char *key, const char *what, const vczi_json_t **out);

/* The value as JSON text (zero-terminated, vczi_free). NaN and Infinity are written as Python reads them. */
int vczi_json_write(const vczi_json_t *value, char **text, size_t *nbytes);
/* For messages: the value as JSON text, cut to fit and zero-terminated; "" where memory lacks or it is absent. */
void vczi_json_excerpt(const vczi_json_t *value, char *out, size_t out_nbytes);

#endif
