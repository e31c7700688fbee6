/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Chunks of filters and checksums. The first byte says which codec, the next two how many bytes are expected; the rest
 * is the chunk. What is decoded without a size must be what is decoded with it, and no other size may do. */
#include <stdlib.h>
#include <string.h>

#include "checksum_codec.h"
#include "filter_codec.h"
#include "status.h"

#define MAX_RAW_NBYTES ((size_t) 1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

static const struct {
    bool is_checksum;
    int variant;
    const char *json;
} codecs[] = {
    {false, VCZI_FILTER_PACKBITS, "{}"},
    {false, VCZI_FILTER_DELTA, "{\"dtype\": \"|i1\"}"},
    {false, VCZI_FILTER_DELTA, "{\"dtype\": \">i4\", \"astype\": \"<i2\"}"},
    {false, VCZI_FILTER_DELTA, "{\"dtype\": \"<f4\"}"},
    {false, VCZI_FILTER_DELTA, "{\"dtype\": \"<u8\", \"astype\": \"|i1\"}"},
    {false, VCZI_FILTER_SCALE, "{\"dtype\": \"<f8\", \"astype\": \"<i2\", \"scale\": 0, \"offset\": 3}"},
    {false, VCZI_FILTER_SCALE, "{\"dtype\": \"|i1\", \"astype\": \">f2\", \"scale\": 0.1, \"offset\": 3}"},
    {false, VCZI_FILTER_QUANTIZE, "{\"dtype\": \"<f8\", \"astype\": \">f4\", \"digits\": 1}"},
    {false, VCZI_FILTER_ASTYPE, "{\"decode_dtype\": \"|b1\", \"encode_dtype\": \"<f8\"}"},
    {false, VCZI_FILTER_ASTYPE, "{\"decode_dtype\": \"<u4\", \"encode_dtype\": \"<f4\"}"},
    {false, VCZI_FILTER_ASTYPE, "{\"decode_dtype\": \"<i2\", \"encode_dtype\": \"<u8\"}"},
    {false, VCZI_FILTER_SHUFFLE, "{\"elementsize\": 4}"},
    {false, VCZI_FILTER_SHUFFLE, "{\"elementsize\": 7}"},
    {true, VCZI_CHECKSUM_CRC32C, "{\"location\": \"start\"}"},
    {true, VCZI_CHECKSUM_CRC32, "{}"},
    {true, VCZI_CHECKSUM_ADLER32, "{\"location\": \"end\"}"},
    {true, VCZI_CHECKSUM_FLETCHER32, "{}"},
    {true, VCZI_CHECKSUM_LOOKUP3, "{\"initval\": 7}"},
};

static void make_codec(size_t which, vczi_codec_t *codec) {
    vczi_json_doc_t *tree = NULL;
    vczi_layout_t layout = {0};
    const char *json = codecs[which].json;
    if (vczi_json_parse(&tree, vczi_span(json, strlen(json)), "fuzz") != 0) abort();
    const vczi_codec_spec_t spec = {.name = "codec", .config = vczi_json_root(tree), .from_v2 = true};
    memset(codec, 0, sizeof(*codec));
    const int ret = codecs[which].is_checksum ? vczi_checksum_set_codec(&spec, codecs[which].variant, codec)
                                              : vczi_filter_set(&spec, codecs[which].variant, &layout, codec);
    if (ret != 0 || codec->ops == NULL) abort();
    vczi_json_close(tree);
}

/* Memory of the exact size: a sanitizer sees what passes it. */
static uint8_t *new_bytes(const uint8_t *from, size_t nbytes) {
    uint8_t *bytes = malloc(nbytes == 0 ? 1 : nbytes);
    if (bytes == NULL) abort();
    if (from != NULL && nbytes != 0) memcpy(bytes, from, nbytes);
    return bytes;
}

/* How the two ways to decode compare, where `nbytes` bytes are expected. */
static void compare(const vczi_codec_t *codec, vczi_span_t chunk, vczi_span_t raw, bool is_good, size_t nbytes,
                    vczi_scratch_t *scratch) {
    uint8_t *out = new_bytes(NULL, nbytes);
    const int ret = codec->ops->decode(codec, chunk, out, nbytes, scratch);
    if ((ret == 0) != (is_good && raw.nbytes == nbytes)) abort();
    if (ret == 0 && nbytes != 0 && memcmp(out, raw.data, nbytes) != 0) abort();
    if (ret != 0 && ret != VCZC_ERR_CORRUPT) abort();
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    vczi_codec_t codec;
    vczi_span_t raw = {NULL, 0};
    size_t encoded_nbytes = 0;
    if (nbytes < 3) {
        return 0;
    }
    make_codec(data[0] % (sizeof(codecs) / sizeof(codecs[0])), &codec);
    uint8_t *copy = new_bytes(data + 3, nbytes - 3);
    const vczi_span_t chunk = vczi_span(copy, nbytes - 3);
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    if (scratch == NULL) abort();
    const int ret = codec.ops->decode_unsized(&codec, chunk, MAX_RAW_NBYTES, VCZI_SCRATCH_CODEC_A, scratch, &raw);
    if (ret != 0 && ret != VCZC_ERR_CORRUPT) abort();
    if (ret == 0) {
        compare(&codec, chunk, raw, true, raw.nbytes, scratch);
        /* The size that is worked out beforehand; packed bits may have more padding than they need. */
        if (!vczi_filter_encoded_nbytes(&codec, raw.nbytes, &encoded_nbytes)) abort();
        if (encoded_nbytes != chunk.nbytes && codec.size_rule != VCZI_SIZE_BITS) abort();
    }
    compare(&codec, chunk, raw, ret == 0, vczi_load_u16le(data + 1), scratch);
    vczi_scratch_return(scratch);
    free(copy);
    return 0;
}
