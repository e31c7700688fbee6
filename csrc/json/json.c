/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* JSON by yyjson. A value handle is a yyjson_val, a document owns a yyjson_doc. Integers beyond 64 bits and reals
 * beyond double are kept as text, so that attributes are written as they were read. */
#include "json.h"

#include <string.h>

#include "ceilings.h"
#include "mem.h"
#include "status.h"
#include "yyjson.h"

struct vczi_json_doc {
    yyjson_doc *tree;
};

/* yyjson's accessors take values that are not const, and do not change them. */
static yyjson_val *as_val(const vczi_json_t *value) {
    return (yyjson_val *) (uintptr_t) value;
}
static const vczi_json_t *as_json(const yyjson_val *value) {
    return (const vczi_json_t *) value;
}

static void *alc_malloc(void *user, size_t nbytes) {
    (void) user;
    return vczi_alloc(nbytes);
}

static void *alc_realloc(void *user, void *memory, size_t old_nbytes, size_t nbytes) {
    (void) user;
    (void) old_nbytes;
    return vczi_realloc(memory, nbytes, 1);
}

static void alc_free(void *user, void *memory) {
    (void) user;
    vczi_free(memory);
}

static const yyjson_alc allocator = {alc_malloc, alc_realloc, alc_free, NULL};

/* The bytes of the literal that begins at `text`, 0 where it is none. yyjson would take "nan" and "inf" in any case;
 * Python, which is handed the same text, does not. */
static size_t literal_nbytes(const uint8_t *text, size_t left) {
    static const char *const literals[] = {"null", "NaN", "Infinity"};
    for (size_t i = 0; i < sizeof(literals) / sizeof(literals[0]); i++) {
        const size_t nbytes = strlen(literals[i]);
        if (nbytes <= left && memcmp(text, literals[i], nbytes) == 0) {
            return nbytes;
        }
    }
    return 0;
}

/* The end of the string whose first byte (behind the quote) is at `i`: the place of its closing quote, or nbytes. */
static size_t string_end(vczi_span_t text, size_t i) {
    while (i < text.nbytes && text.data[i] != '"') {
        i += text.data[i] == '\\' && text.nbytes - i > 1 ? 2 : 1;
    }
    return i;
}

/* Depth and literals, before the parser allocates anything. What is not JSON may pass: the parser finds that. */
static int scan(vczi_span_t text, const char *what) {
    int depth = 0;
    for (size_t i = 0; i < text.nbytes; i++) {
        size_t nbytes;
        switch (text.data[i]) {
            case '"':
                i = string_end(text, i + 1);
                break;
            case '[':
            case '{':
                if (++depth > VCZI_MAX_JSON_DEPTH) {
                    return vczi_fail(VCZC_ERR_METADATA, "%s: nested deeper than %d levels", what, VCZI_MAX_JSON_DEPTH);
                }
                break;
            case ']':
            case '}':
                depth--;
                break;
            case 'n':
            case 'N':
            case 'i':
            case 'I':
                nbytes = literal_nbytes(text.data + i, text.nbytes - i);
                if (nbytes == 0 || (text.data[i] == 'N' && i > 0 && text.data[i - 1] == '-')) {
                    return vczi_fail(VCZC_ERR_METADATA, "%s is not JSON: unknown literal at byte %zu", what, i);
                }
                i += nbytes - 1;
                break;
            default:
                break;
        }
    }
    return 0;
}

static yyjson_doc *read_tree(vczi_span_t text, yyjson_read_flag flags, yyjson_read_err *error) {
    /* Without YYJSON_READ_INSITU the text is copied, never written. */
    return yyjson_read_opts((char *) (uintptr_t) text.data, text.nbytes, flags, &allocator, error);
}

int vczi_json_parse(vczi_json_doc_t **doc, vczi_span_t text, const char *what) {
    *doc = NULL;
    text = vczi_json_without_bom(text);
    if (text.nbytes == 0) {
        return vczi_fail(VCZC_ERR_METADATA, "%s is empty", what);
    }
    if (text.nbytes > VCZI_MAX_DOCUMENT_NBYTES) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: %zu bytes are more than a document may have", what, text.nbytes);
    }
    int ret = scan(text, what);
    if (ret != 0) {
        return ret;
    }
    vczi_json_doc_t *self = vczi_alloc(sizeof(*self));
    if (self == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    yyjson_read_err error = {0, NULL, 0};
    self->tree = read_tree(text, YYJSON_READ_ALLOW_INF_AND_NAN | YYJSON_READ_BIGNUM_AS_RAW, &error);
    if (self->tree == NULL) {
        vczi_free(self);
        if (error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
            return VCZC_ERR_NO_MEMORY;
        }
        return vczi_fail(VCZC_ERR_METADATA, "%s is not JSON: %s at byte %zu", what, error.msg, error.pos);
    }
    *doc = self;
    return 0;
}

void vczi_json_close(vczi_json_doc_t *doc) {
    if (doc != NULL) {
        yyjson_doc_free(doc->tree);
        vczi_free(doc);
    }
}

const vczi_json_t *vczi_json_root(const vczi_json_doc_t *doc) {
    return as_json(yyjson_doc_get_root(doc->tree));
}

vczi_json_type_t vczi_json_type(const vczi_json_t *value) {
    yyjson_val *val = as_val(value);
    switch (yyjson_get_type(val)) {
        case YYJSON_TYPE_NULL:
            return VCZI_JSON_NULL;
        case YYJSON_TYPE_BOOL:
            return VCZI_JSON_BOOL;
        case YYJSON_TYPE_NUM:
            return yyjson_is_real(val) ? VCZI_JSON_REAL : VCZI_JSON_INTEGER;
        case YYJSON_TYPE_RAW: /* a number that 64 bits do not hold */
            return VCZI_JSON_REAL;
        case YYJSON_TYPE_STR:
            return VCZI_JSON_TEXT;
        case YYJSON_TYPE_ARR:
            return VCZI_JSON_ARRAY;
        case YYJSON_TYPE_OBJ:
            return VCZI_JSON_OBJECT;
        default:
            return VCZI_JSON_ABSENT;
    }
}

static const char *type_name(vczi_json_type_t type) {
    static const char *const names[] = {"nothing",  "null",   "a boolean", "an integer",
                                        "a number", "a text", "an array",  "an object"};
    return names[type];
}

const char *vczi_json_type_name(const vczi_json_t *value) {
    return type_name(vczi_json_type(value));
}

bool vczi_json_get_bool(const vczi_json_t *value, bool *out) {
    if (!yyjson_is_bool(as_val(value))) {
        return false;
    }
    *out = yyjson_get_bool(as_val(value));
    return true;
}

bool vczi_json_get_i64(const vczi_json_t *value, int64_t *out) {
    yyjson_val *val = as_val(value);
    if (yyjson_is_sint(val)) {
        *out = yyjson_get_sint(val);
        return true;
    }
    if (yyjson_is_uint(val) && yyjson_get_uint(val) <= (uint64_t) INT64_MAX) {
        *out = (int64_t) yyjson_get_uint(val);
        return true;
    }
    return false;
}

bool vczi_json_get_u64(const vczi_json_t *value, uint64_t *out) {
    yyjson_val *val = as_val(value);
    if (yyjson_is_uint(val)) {
        *out = yyjson_get_uint(val);
        return true;
    }
    return false; /* yyjson keeps every number that is not negative as unsigned */
}

/* A number that was kept as text, read again as the nearest double. */
static bool get_raw_double(yyjson_val *val, double *out) {
    yyjson_doc *number =
        read_tree(vczi_span(yyjson_get_raw(val), yyjson_get_len(val)), YYJSON_READ_ALLOW_INF_AND_NAN, NULL);
    if (number == NULL) {
        return false;
    }
    *out = yyjson_get_num(yyjson_doc_get_root(number));
    yyjson_doc_free(number);
    return true;
}

bool vczi_json_get_double(const vczi_json_t *value, double *out) {
    yyjson_val *val = as_val(value);
    if (yyjson_is_raw(val)) {
        return get_raw_double(val, out);
    }
    if (!yyjson_is_num(val)) {
        return false;
    }
    *out = yyjson_get_num(val);
    return true;
}

bool vczi_json_get_text(const vczi_json_t *value, vczi_span_t *out) {
    yyjson_val *val = as_val(value);
    if (!yyjson_is_str(val)) {
        return false;
    }
    *out = vczi_span(yyjson_get_str(val), yyjson_get_len(val));
    return true;
}

bool vczi_json_text_equals(const vczi_json_t *value, const char *text) {
    return yyjson_equals_strn(as_val(value), text, strlen(text));
}

const vczi_json_t *vczi_json_member_span(const vczi_json_t *object, vczi_span_t key) {
    yyjson_obj_iter members;
    yyjson_val *found = NULL;
    if (!yyjson_obj_iter_init(as_val(object), &members)) {
        return NULL;
    }
    for (yyjson_val *name = yyjson_obj_iter_next(&members); name != NULL; name = yyjson_obj_iter_next(&members)) {
        if (yyjson_get_len(name) == key.nbytes &&
            (key.nbytes == 0 || memcmp(yyjson_get_str(name), key.data, key.nbytes) == 0)) {
            found = yyjson_obj_iter_get_val(name);
        }
    }
    return as_json(found);
}

const vczi_json_t *vczi_json_member(const vczi_json_t *object, const char *key) {
    return vczi_json_member_span(object, vczi_span(key, strlen(key)));
}

size_t vczi_json_count(const vczi_json_t *value) {
    yyjson_val *val = as_val(value);
    return yyjson_is_arr(val) ? yyjson_arr_size(val) : yyjson_obj_size(val);
}

const vczi_json_t *vczi_json_item(const vczi_json_t *array, size_t index) {
    return as_json(yyjson_arr_get(as_val(array), index));
}

int vczi_json_each_member(const vczi_json_t *object, vczi_json_member_fn tell, void *user) {
    yyjson_obj_iter members;
    if (!yyjson_obj_iter_init(as_val(object), &members)) {
        return 0;
    }
    for (yyjson_val *name = yyjson_obj_iter_next(&members); name != NULL; name = yyjson_obj_iter_next(&members)) {
        const vczi_span_t key = vczi_span(yyjson_get_str(name), yyjson_get_len(name));
        const int ret = tell(user, key, as_json(yyjson_obj_iter_get_val(name)));
        if (ret != 0) {
            return ret;
        }
    }
    return 0;
}

static int fail_member(const vczi_json_t *value, const char *key, const char *what, const char *wanted) {
    if (value == NULL) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: '%s' is missing", what, key);
    }
    return vczi_fail(VCZC_ERR_METADATA, "%s: '%s' must be %s, not %s", what, key, wanted, vczi_json_type_name(value));
}

int vczi_json_need_i64(const vczi_json_t *object, const char *key, const char *what, int64_t *out) {
    const vczi_json_t *value = vczi_json_member(object, key);
    return vczi_json_get_i64(value, out) ? 0 : fail_member(value, key, what, "an integer of 64 bits");
}

int vczi_json_need_text(const vczi_json_t *object, const char *key, const char *what, vczi_span_t *out) {
    const vczi_json_t *value = vczi_json_member(object, key);
    return vczi_json_get_text(value, out) ? 0 : fail_member(value, key, what, type_name(VCZI_JSON_TEXT));
}

static int need_type(const vczi_json_t *object, const char *key, const char *what, vczi_json_type_t type,
                     const vczi_json_t **out) {
    const vczi_json_t *value = vczi_json_member(object, key);
    if (vczi_json_type(value) != type) {
        return fail_member(value, key, what, type_name(type));
    }
    *out = value;
    return 0;
}

int vczi_json_need_array(const vczi_json_t *object, const char *key, const char *what, const vczi_json_t **out) {
    return need_type(object, key, what, VCZI_JSON_ARRAY, out);
}

int vczi_json_need_object(const vczi_json_t *object, const char *key, const char *what, const vczi_json_t **out) {
    return need_type(object, key, what, VCZI_JSON_OBJECT, out);
}

int vczi_json_write(const vczi_json_t *value, char **text, size_t *nbytes) {
    yyjson_write_err error = {0, NULL};
    *nbytes = 0;
    *text = yyjson_val_write_opts(as_val(value), YYJSON_WRITE_ALLOW_INF_AND_NAN, &allocator, nbytes, &error);
    if (*text != NULL) {
        return 0;
    }
    if (error.code == YYJSON_WRITE_ERROR_MEMORY_ALLOCATION) {
        return VCZC_ERR_NO_MEMORY;
    }
    return vczi_fail(VCZC_ERR_INTERNAL, "JSON cannot be written: %s", error.msg != NULL ? error.msg : "no value");
}

void vczi_json_excerpt(const vczi_json_t *value, char *out, size_t out_nbytes) {
    char *text = NULL;
    size_t nbytes = 0;
    if (out_nbytes == 0) {
        return;
    }
    out[0] = '\0';
    if (value == NULL || vczi_json_write(value, &text, &nbytes) != 0) {
        return;
    }
    const size_t room = out_nbytes - 1;
    size_t taken = nbytes < room ? nbytes : room;
    while (taken < nbytes && taken > 0 && ((unsigned char) text[taken] & 0xc0) == 0x80) {
        taken--; /* a cut falls between characters */
    }
    memcpy(out, text, taken);
    out[taken] = '\0';
    vczi_free(text);
}
