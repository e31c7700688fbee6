/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "filter_codec.h"

#include "checked.h"
#include "status.h"
#include "unfilter.h"
#include "unshuffle.h"

/* ---- Sizes ---- */

bool vczi_filter_encoded_nbytes(const vczi_codec_t *codec, size_t raw_nbytes, size_t *encoded_nbytes) {
    const vczi_settings_t *settings = &codec->settings;
    switch (codec->size_rule) {
        case VCZI_SIZE_SAME:
            *encoded_nbytes = raw_nbytes;
            return true;
        case VCZI_SIZE_ITEMS:
            *encoded_nbytes = 0;
            return raw_nbytes % settings->to.nbytes != 0 ||
                   vczi_mul_size(raw_nbytes / settings->to.nbytes, settings->from.nbytes, encoded_nbytes);
        case VCZI_SIZE_BITS:
            *encoded_nbytes = 1 + raw_nbytes / 8 + (raw_nbytes % 8 != 0);
            return true;
        case VCZI_SIZE_CHECKSUM:
            return vczi_add_size(raw_nbytes, 4, encoded_nbytes);
        default:
            return false;
    }
}

/* How many bytes `in` becomes, of a filter of items. */
static int raw_nbytes_of(const vczi_codec_t *self, vczi_span_t in, size_t *raw_nbytes) {
    const vczi_settings_t *settings = &self->settings;
    if (in.nbytes % settings->from.nbytes != 0) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes are no whole number of items of %zu bytes", in.nbytes,
                         settings->from.nbytes);
    }
    if (!vczi_mul_size(in.nbytes / settings->from.nbytes, settings->to.nbytes, raw_nbytes)) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes become more than the memory can hold", in.nbytes);
    }
    return 0;
}

static int claim(size_t nbytes, size_t max_nbytes, int which, vczi_scratch_t *scratch, uint8_t **buffer) {
    if (nbytes > max_nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "it becomes %zu bytes, more than the %zu that are allowed", nbytes,
                         max_nbytes);
    }
    *buffer = vczi_scratch_buffer(scratch, which, nbytes);
    return *buffer == NULL ? VCZC_ERR_NO_MEMORY : 0;
}

/* ---- Filters of items ---- */

static void undo(const vczi_codec_t *self, vczi_span_t in, uint8_t *out) {
    const vczi_settings_t *settings = &self->settings;
    const size_t nitems = in.nbytes / settings->from.nbytes;
    if (self->variant == VCZI_FILTER_DELTA) {
        vczi_undelta(&settings->from, in.data, &settings->to, out, nitems);
    } else if (self->variant == VCZI_FILTER_SCALE) {
        vczi_unscale(&settings->from, in.data, settings->scale, settings->offset, &settings->to, out, nitems);
    } else {
        vczi_cast(&settings->from, in.data, &settings->to, out, nitems);
    }
}

static int items_decode(const vczi_codec_t *self, vczi_span_t in, uint8_t *out, size_t out_nbytes,
                        vczi_scratch_t *scratch) {
    size_t nbytes = 0;
    (void) scratch;
    int ret = raw_nbytes_of(self, in, &nbytes);
    if (ret == 0 && nbytes != out_nbytes) {
        ret = vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes of filtered items become %zu, not %zu", in.nbytes, nbytes,
                        out_nbytes);
    }
    if (ret == 0) {
        undo(self, in, out);
    }
    return ret;
}

static int items_decode_unsized(const vczi_codec_t *self, vczi_span_t in, size_t max_nbytes, int which,
                                vczi_scratch_t *scratch, vczi_span_t *out) {
    uint8_t *buffer = NULL;
    size_t nbytes = 0;
    int ret = raw_nbytes_of(self, in, &nbytes);
    if (ret == 0) {
        ret = claim(nbytes, max_nbytes, which, scratch, &buffer);
    }
    if (ret == 0) {
        undo(self, in, buffer);
    }
    *out = vczi_span(buffer, nbytes);
    return ret;
}

static const vczi_codec_ops_t items_ops = {NULL, NULL, items_decode, items_decode_unsized, NULL};

/* ---- packbits: the number of bits at the end that are none, then eight bools a byte ---- */

static int read_nbits(vczi_span_t in, size_t *nbits) {
    const size_t npadded = in.nbytes == 0 ? 0 : in.data[0];
    if (in.nbytes == 0 || !vczi_mul_size(in.nbytes - 1, 8, nbits) || npadded > *nbits) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes cannot hold packed bits of which %zu are padding", in.nbytes,
                         npadded);
    }
    *nbits -= npadded;
    return 0;
}

static int packbits_decode(const vczi_codec_t *self, vczi_span_t in, uint8_t *out, size_t out_nbytes,
                           vczi_scratch_t *scratch) {
    size_t nbits = 0;
    (void) self;
    (void) scratch;
    int ret = read_nbits(in, &nbits);
    if (ret == 0 && nbits != out_nbytes) {
        ret = vczi_fail(VCZC_ERR_CORRUPT, "%zu packed bits, not %zu", nbits, out_nbytes);
    }
    if (ret == 0) {
        vczi_unpack_bits(in.data + 1, out, nbits);
    }
    return ret;
}

static int packbits_decode_unsized(const vczi_codec_t *self, vczi_span_t in, size_t max_nbytes, int which,
                                   vczi_scratch_t *scratch, vczi_span_t *out) {
    uint8_t *buffer = NULL;
    size_t nbits = 0;
    (void) self;
    int ret = read_nbits(in, &nbits);
    if (ret == 0) {
        ret = claim(nbits, max_nbytes, which, scratch, &buffer);
    }
    if (ret == 0) {
        vczi_unpack_bits(in.data + 1, buffer, nbits);
    }
    *out = vczi_span(buffer, nbits);
    return ret;
}

static const vczi_codec_ops_t packbits_ops = {NULL, NULL, packbits_decode, packbits_decode_unsized, NULL};

/* ---- shuffle ---- */

static int check_elements(const vczi_codec_t *self, vczi_span_t in) {
    if (in.nbytes % self->settings.element_nbytes != 0) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu shuffled bytes are no whole number of elements of %zu", in.nbytes,
                         self->settings.element_nbytes);
    }
    return 0;
}

static void unshuffle(const vczi_codec_t *self, vczi_span_t in, uint8_t *out) {
    const size_t nelements = in.nbytes / self->settings.element_nbytes;
    if (nelements != 0) {
        vczi_unshuffle_bytes(in.data, nelements, self->settings.element_nbytes, 0, nelements, out);
    }
}

static int shuffle_decode(const vczi_codec_t *self, vczi_span_t in, uint8_t *out, size_t out_nbytes,
                          vczi_scratch_t *scratch) {
    (void) scratch;
    int ret = check_elements(self, in);
    if (ret == 0 && in.nbytes != out_nbytes) {
        ret = vczi_fail(VCZC_ERR_CORRUPT, "%zu shuffled bytes, not %zu", in.nbytes, out_nbytes);
    }
    if (ret == 0) {
        unshuffle(self, in, out);
    }
    return ret;
}

static int shuffle_decode_unsized(const vczi_codec_t *self, vczi_span_t in, size_t max_nbytes, int which,
                                  vczi_scratch_t *scratch, vczi_span_t *out) {
    uint8_t *buffer = NULL;
    int ret = check_elements(self, in);
    if (ret == 0) {
        ret = claim(in.nbytes, max_nbytes, which, scratch, &buffer);
    }
    if (ret == 0) {
        unshuffle(self, in, buffer);
    }
    *out = vczi_span(buffer, in.nbytes);
    return ret;
}

static const vczi_codec_ops_t shuffle_ops = {NULL, NULL, shuffle_decode, shuffle_decode_unsized, NULL};

/* ---- Settings ---- */

static int set_shuffle(const vczi_codec_spec_t *spec, const vczi_layout_t *layout, vczi_codec_t *codec) {
    const vczi_json_t *value = vczi_json_member(spec->config, "elementsize");
    int64_t nbytes = spec->from_v2 ? 4 : layout->dtype->item_nbytes;
    if (vczi_json_type(value) > VCZI_JSON_NULL && !vczi_json_get_i64(value, &nbytes)) {
        return vczi_fail(VCZC_ERR_METADATA, "the elementsize of the codec '%s' must be a whole number", spec->name);
    }
    if (nbytes > UINT8_MAX) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the codec '%s' of elements of more than 255 bytes is not read",
                         spec->name);
    }
    codec->size_rule = VCZI_SIZE_SAME;
    if (nbytes > 1) { /* else nothing is shuffled */
        codec->ops = &shuffle_ops;
        codec->settings.element_nbytes = (size_t) nbytes;
    }
    return 0;
}

/* The types of items that filters take, as NumPy calls them. */
static const struct {
    int kind;
    uint8_t nbytes;
    const char *code, *name, *letter;
} types[] = {
    {VCZC_BOOL, 1, "b1", "bool", "?"},       {VCZC_INT8, 1, "i1", "int8", "b"},
    {VCZC_INT16, 2, "i2", "int16", "h"},     {VCZC_INT32, 4, "i4", "int32", "i"},
    {VCZC_INT64, 8, "i8", "int64", "q"},     {VCZC_UINT8, 1, "u1", "uint8", "B"},
    {VCZC_UINT16, 2, "u2", "uint16", "H"},   {VCZC_UINT32, 4, "u4", "uint32", "I"},
    {VCZC_UINT64, 8, "u8", "uint64", "Q"},   {VCZC_FLOAT16, 2, "f2", "float16", "e"},
    {VCZC_FLOAT32, 4, "f4", "float32", "f"}, {VCZC_FLOAT64, 8, "f8", "float64", "d"},
};

#define NTYPES (sizeof(types) / sizeof(types[0]))

static bool equals(vczi_span_t text, const char *wanted) {
    return text.nbytes == strlen(wanted) && memcmp(text.data, wanted, text.nbytes) == 0;
}

static bool find_kind(int kind, vczi_items_t *items) {
    for (size_t i = 0; i < NTYPES; i++) {
        if (types[i].kind == kind) {
            *items = vczi_native_items(kind, types[i].nbytes);
            return true;
        }
    }
    return false;
}

/* "<i4", "i4", "int32", … */
static bool find_name(vczi_span_t text, vczi_items_t *items) {
    bool is_swapped = false;
    if (text.nbytes > 1 && memchr("<>|=", text.data[0], 4) != NULL) {
        is_swapped = text.data[0] == (vczi_host_is_big_endian() ? '<' : '>');
        text = vczi_span(text.data + 1, text.nbytes - 1);
    }
    for (size_t i = 0; i < NTYPES; i++) {
        if (equals(text, types[i].code) || equals(text, types[i].name) || equals(text, types[i].letter)) {
            *items = vczi_native_items(types[i].kind, types[i].nbytes);
            items->is_swapped = is_swapped && types[i].nbytes > 1;
            return true;
        }
    }
    return false;
}

/* Setting `key`, or `standard` where it is left out (NULL: it may not be). */
static int read_items(const vczi_codec_spec_t *spec, const char *key, const vczi_items_t *standard,
                      vczi_items_t *items) {
    const vczi_json_t *value = vczi_json_member(spec->config, key);
    vczi_span_t text;
    if (vczi_json_type(value) <= VCZI_JSON_NULL && standard != NULL) {
        *items = *standard;
        return 0;
    }
    if (!vczi_json_get_text(value, &text)) {
        return vczi_fail(VCZC_ERR_METADATA, "the codec '%s' must name a data type as its %s", spec->name, key);
    }
    if (!find_name(text, items)) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the codec '%s' of data type '%.*s' is not read", spec->name,
                         text.nbytes < 32 ? (int) text.nbytes : 32, (const char *) text.data);
    }
    return 0;
}

static int read_number(const vczi_codec_spec_t *spec, const char *key, double *number) {
    if (!vczi_json_get_double(vczi_json_member(spec->config, key), number)) {
        return vczi_fail(VCZC_ERR_METADATA, "the codec '%s' must have a number as its %s", spec->name, key);
    }
    return 0;
}

static bool is_float(const vczi_items_t *items) {
    return items->kind >= VCZC_FLOAT16;
}

static int read_settings(const vczi_codec_spec_t *spec, int variant, const vczi_items_t *standard,
                         vczi_settings_t *settings) {
    const bool is_cast = variant == VCZI_FILTER_ASTYPE;
    int ret = read_items(spec, is_cast ? "decode_dtype" : "dtype", standard, &settings->to);
    if (ret == 0) {
        ret = read_items(spec, is_cast ? "encode_dtype" : "astype", is_cast ? NULL : &settings->to, &settings->from);
    }
    if (ret == 0 && variant == VCZI_FILTER_SCALE) {
        ret = read_number(spec, "scale", &settings->scale);
        if (ret == 0) {
            ret = read_number(spec, "offset", &settings->offset);
        }
    }
    if (ret == 0 && variant == VCZI_FILTER_QUANTIZE && (!is_float(&settings->to) || !is_float(&settings->from))) {
        ret = vczi_fail(VCZC_ERR_METADATA, "the codec '%s' is for floats", spec->name);
    }
    return ret;
}

/* Whole numbers of one size may stand for one another: what they hold is told by its bits. */
static bool may_be(const vczi_items_t *items, const vczi_dtype_t *dtype) {
    return items->kind == dtype->kind || (dtype->kind >= VCZC_BOOL && dtype->kind < VCZC_FLOAT16 && !is_float(items) &&
                                          (int64_t) items->nbytes == dtype->item_nbytes);
}

/* In format 3: the filter stands between the array, whose items it gives, and the codec `bytes`, which gets its own. */
static int set_array_filter(const vczi_codec_spec_t *spec, vczi_settings_t *settings, vczi_layout_t *layout) {
    if (!may_be(&settings->to, layout->dtype)) {
        return vczi_fail(VCZC_ERR_METADATA, "the codec '%s' gives other items than %s", spec->name,
                         vczi_dtype_name(layout->dtype));
    }
    settings->to.is_swapped = false;
    settings->from.is_swapped = false; /* until the codec `bytes` has said it */
    layout->filtered.kind = settings->from.kind;
    layout->filtered.item_nbytes = (int64_t) settings->from.nbytes;
    layout->filtered.unit_nbytes = (int) settings->from.nbytes;
    layout->dtype = &layout->filtered;
    return 0;
}

static bool is_same(const vczi_items_t *a, const vczi_items_t *b) {
    return a->kind == b->kind && a->is_swapped == b->is_swapped;
}

static int set_bitround(const vczi_codec_spec_t *spec, const vczi_items_t *items) {
    int64_t nbits = -1;
    if (!spec->from_v2 && !is_float(items)) {
        return vczi_fail(VCZC_ERR_METADATA, "the codec '%s' is for floats", spec->name);
    }
    if (!vczi_json_get_i64(vczi_json_member(spec->config, "keepbits"), &nbits) || nbits < 0) {
        return vczi_fail(VCZC_ERR_METADATA, "the codec '%s' must say its keepbits", spec->name);
    }
    return 0; /* what is stored is what the writer rounded */
}

static int set_packbits(const vczi_codec_spec_t *spec, vczi_layout_t *layout, vczi_codec_t *codec) {
    codec->ops = &packbits_ops;
    codec->size_rule = VCZI_SIZE_BITS;
    codec->settings.to = vczi_native_items(VCZC_BOOL, 1);
    codec->settings.from = vczi_native_items(VCZC_UINT8, 1);
    layout->is_in_order = true;
    return spec->from_v2 ? 0 : set_array_filter(spec, &codec->settings, layout);
}

int vczi_filter_set(const vczi_codec_spec_t *spec, int variant, vczi_layout_t *layout, vczi_codec_t *codec) {
    vczi_items_t standard = {0};
    const bool has_standard = !spec->from_v2 && find_kind(layout->dtype->kind, &standard);
    codec->variant = variant;
    if (variant == VCZI_FILTER_SHUFFLE) {
        return set_shuffle(spec, layout, codec);
    }
    if (!spec->from_v2 && !has_standard) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the codec '%s' of %s is not read", spec->name,
                         vczi_dtype_name(layout->dtype));
    }
    if (variant == VCZI_FILTER_BITROUND) {
        return set_bitround(spec, &standard);
    }
    if (variant == VCZI_FILTER_PACKBITS) {
        return set_packbits(spec, layout, codec);
    }
    const bool needs_type = variant == VCZI_FILTER_DELTA || !has_standard;
    int ret = read_settings(spec, variant, needs_type ? NULL : &standard, &codec->settings);
    if (ret == 0 && !spec->from_v2) {
        ret = set_array_filter(spec, &codec->settings, layout);
    }
    if (ret == 0) {
        const bool is_cast = variant == VCZI_FILTER_QUANTIZE || variant == VCZI_FILTER_ASTYPE;
        layout->is_in_order = layout->is_in_order || variant == VCZI_FILTER_DELTA;
        codec->size_rule = VCZI_SIZE_ITEMS;
        codec->ops = is_cast && is_same(&codec->settings.from, &codec->settings.to) ? NULL : &items_ops;
    }
    return ret;
}
