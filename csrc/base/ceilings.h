/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Every ceiling that untrusted input is held against, with its reason. */
#ifndef VCZI_CEILINGS_H
#define VCZI_CEILINGS_H

/* Text of one error, with its path and reason: longer texts are cut, never allocated. */
#define VCZI_DETAIL_NBYTES 1024

/* A chunk's own bytes, decoded. Blosc cannot hold more than 2 GiB; raw chunks and zstd could, and a
 * description that claims more is more likely a lie than a genotype chunk (20 MB). Callers may raise it. */
#define VCZI_MAX_CHUNK_NBYTES ((int64_t) 1 << 34)

/* What an array keeps of chunks that it decompressed for small requests: bio2zarr's Blosc blocks have 512 KB at most.
 */
#define VCZI_MAX_KEPT_NBYTES ((size_t) 32 << 20)

/* One item of fixed width. An open array holds one, the fill value, whatever few bytes its document says it with; the
 * longest texts in a VCF, alleles that are written out, have some MB at most. */
#define VCZI_MAX_ITEM_NBYTES ((int64_t) 16 << 20)

/* A metadata document: the largest that bio2zarr writes is some 100 KB; consolidated ones some MB, and 1 KB a node. An
 * archive says 1,000 bytes of one with one byte, and its tree takes up to 8 times its size. */
#define VCZI_MAX_DOCUMENT_NBYTES ((size_t) 64 << 20)

/* Nesting of a metadata document: Zarr's own needs 6; Python's json gives up near 1,000. */
#define VCZI_MAX_JSON_DEPTH 128

/* Codecs of one array, filters included: real chains have at most 4. */
#define VCZI_MAX_CODECS 16

/* Sharding codecs inside one another: the specification sets none, writers use one. */
#define VCZI_MAX_SHARD_DEPTH 4

/* A key of a store: PATH_MAX of the systems that vczc runs on. */
#define VCZI_MAX_KEY_NBYTES 4096

/* Links to folders that one listing follows behind other links: two a level multiply to so many in 13 levels. Stores
 * that are put together out of links have few links in links. */
#define VCZI_MAX_NESTED_LINKS ((int64_t) 1 << 13)

/* Digits and separator of one coordinate in a chunk's key. */
#define VCZI_MAX_COORD_NBYTES 21

#endif
