# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Strategies of hypothesis: arrays that zarr-python stored, and what may stand between brackets."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import oracle
import zarr
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from numcodecs import LZ4, Blosc, GZip, Zlib, Zstd

# Writing by zarr-python takes most of the time. VCZC_TEST_EXAMPLES=5000 looks for longer, and at
# random.
many = settings(
    max_examples=int(os.environ.get("VCZC_TEST_EXAMPLES", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

MAX_ITEMS = 3000  # of an array: what zarr-python writes in a few milliseconds
MAX_CHUNKS = 40


UNSHARDABLE = ("V1", "V3", "<m8")  # by zarr-python: their fill values have no hash
ALL_DTYPES = st.sampled_from(oracle.DTYPES)
FIXED_DTYPES = st.sampled_from([d for d in oracle.DTYPES if d not in (oracle.TEXT, oracle.BYTES)])


@st.composite
def shapes(draw: st.DrawFn, max_ndim: int = 4) -> tuple[int, ...]:
    """Now and then with an axis of no items."""
    shape: tuple[int, ...] = ()
    for _ in range(draw(st.integers(0, max_ndim))):
        left = MAX_ITEMS // max(1, int(np.prod(shape, dtype=int)))
        longer = st.integers(1, max(1, min(left, 60)))
        shape += (draw(st.integers(0, 3) if draw(st.booleans()) else longer),)
    return shape


ALL_SHAPES = shapes()


@st.composite
def chunk_shapes(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Also longer than the array."""
    chunks: tuple[int, ...] = ()
    nchunks = 1
    for n in shape:
        least = max(1, -(-n * nchunks // MAX_CHUNKS))
        chunks += (draw(st.integers(least, max(least, n + 2))),)
        nchunks *= max(1, -(-n // chunks[-1]))
    return chunks


def blosc() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "cname": st.sampled_from(["zstd", "lz4", "lz4hc", "zlib", "blosclz"]),
            "clevel": st.sampled_from([0, 1, 5, 9]),
            "shuffle": st.sampled_from(["noshuffle", "shuffle", "bitshuffle"]),
            "blocksize": st.sampled_from([0, 128, 500, 4096]),
        }
    )


@st.composite
def compressors(draw: st.DrawFn, zarr_format: int) -> Any:
    """As `compressors` of zarr.create_array."""
    settings = draw(st.none() | blosc())
    if settings is not None and zarr_format == 3:
        typesize = draw(st.sampled_from([1, 2, 3, 4, 8]))
        codecs = [zarr.codecs.BloscCodec(**settings, typesize=typesize)]
    elif settings is not None:
        shuffle = ["noshuffle", "shuffle", "bitshuffle"].index(settings["shuffle"])
        return Blosc(**{**settings, "shuffle": shuffle})
    elif zarr_format == 2:
        return draw(st.sampled_from([None, Zlib(1), GZip(1), Zstd(1), LZ4()]))
    else:
        codecs = draw(
            st.lists(
                st.sampled_from([zarr.codecs.GzipCodec(level=1), zarr.codecs.ZstdCodec(level=1)]),
                max_size=2,
            )
        )
    return codecs + draw(st.sampled_from([[], [zarr.codecs.Crc32cCodec()]]))


@st.composite
def shards(draw: st.DrawFn, ndim: int) -> oracle.Shards:
    """Now and then shards in shards, and shards that are compressed as a whole."""
    factors = st.tuples(*[st.integers(1, 3)] * ndim)
    endian = draw(st.sampled_from(["little", "big"]))
    checksums = draw(st.integers(0, 2))
    return oracle.Shards(
        tuple(draw(st.lists(factors, min_size=1, max_size=2))),
        draw(st.sampled_from(["start", "end"])),
        (zarr.codecs.BytesCodec(endian=endian), *[zarr.codecs.Crc32cCodec()] * checksums),
        draw(
            st.sampled_from([(), (), (zarr.codecs.ZstdCodec(level=1), zarr.codecs.Crc32cCodec())])
        ),
    )


@st.composite
def stored_arrays(
    draw: st.DrawFn,
    dtypes: st.SearchStrategy[str] = ALL_DTYPES,
    shapes: st.SearchStrategy[tuple[int, ...]] = ALL_SHAPES,
) -> oracle.Stored:
    """Of either format, with any order, codec, separator and fill value; some chunks absent."""
    dtype, shape = draw(dtypes), draw(shapes)
    if dtype == oracle.BYTES and shape == ():
        shape = (1,)  # zarr-python makes of the one item an `S`, which ends in no zero byte
    zarr_format = draw(st.sampled_from(oracle.FORMATS))
    style = draw(st.sampled_from(["random", "runs", "small"]))
    chunks = draw(chunk_shapes(shape))
    can_shard = zarr_format == 3 and chunks and dtype not in UNSHARDABLE
    stored = oracle.write(
        oracle.values(dtype, shape, draw(st.integers(0, 1 << 20)), style),
        chunks,
        dtype,
        shards=draw(st.none() | shards(len(chunks))) if can_shard else None,
        write_empty_chunks=draw(st.booleans()),
        zarr_format=zarr_format,
        order=draw(st.sampled_from("CF")),
        separator=draw(st.sampled_from("./")),
        compressors=draw(compressors(zarr_format)),
        fill_value=draw(fill_values(dtype, zarr_format)),
    )
    keys = sorted(filter(oracle.is_chunk, stored.content))
    absent = draw(st.sets(st.sampled_from(keys), max_size=3)) if keys else set()
    if not absent:
        return stored
    return oracle.read({key: v for key, v in stored.content.items() if key not in absent})


@st.composite
def fill_values(draw: st.DrawFn, dtype: str, zarr_format: int) -> Any:
    if zarr_format == 2 and draw(st.booleans()):
        return None
    if dtype in (oracle.TEXT, oracle.BYTES):
        return draw(st.sampled_from(["", ".", "ü"] if dtype == oracle.TEXT else [b"", b"\0\xff"]))
    items = oracle.values(dtype, (1,), draw(st.integers(0, 1000)))
    if items.dtype.kind == "f":  # zarr-python writes every NaN as the same
        return draw(st.sampled_from([0.0, -0.0, 1.5, np.nan, np.inf, -np.inf]))
    if items.dtype.kind == "c":
        return draw(st.sampled_from([0j, complex(-0.0, 1.5), complex(np.nan, -np.inf)]))
    return items[0]


# ---- Between brackets ----


def steps_of(n: int) -> st.SearchStrategy[slice]:
    """Slices along an axis of `n` items; ends may lie outside."""
    end = st.none() | st.integers(-n - 2, n + 2)
    return st.builds(slice, end, end, st.none() | st.integers(1, n + 2))


@st.composite
def along_axes(draw: st.DrawFn, per_axis: list[st.SearchStrategy[Any]]) -> Any:
    """One item of each axis, some at the end left out or `...` in the place of some."""
    items = [draw(s) for s in per_axis]
    stop = draw(st.integers(0, len(items)))
    start = draw(st.integers(0, stop))
    form = draw(st.sampled_from(["whole", "ellipsis", "short"]))
    if form == "ellipsis":
        return (*items[:start], ..., *items[stop:])
    if form == "short":
        items = items[:stop]
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


def ints(n: int) -> st.SearchStrategy[int]:
    return st.integers(-n, n - 1) if n else st.nothing()


def basic_selections(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    return along_axes([ints(n) | steps_of(n) for n in shape])


def masks(n: int) -> st.SearchStrategy[np.ndarray]:
    return st.integers(0, 1 << 30).map(lambda seed: np.random.default_rng(seed).random(n) < 0.4)


def index_arrays(n: int) -> st.SearchStrategy[np.ndarray]:
    """Of any order, with repetitions."""
    if n == 0:
        return st.just(np.zeros(0, int))
    return st.lists(ints(n), max_size=12).map(lambda items: np.array(items, int))


def orthogonal_selections(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    return along_axes([ints(n) | steps_of(n) | masks(n) | index_arrays(n) for n in shape])


def block_slices(n: int) -> st.SearchStrategy[slice]:
    start = st.none() | st.integers(-n, n - 1)
    stop = st.none() | st.integers(-n, n + 2)  # below -n, zarr-python takes what lies elsewhere
    return st.builds(slice, start, stop, st.sampled_from([None, 1]))


def block_indices(grid: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """Only for grids that have blocks."""
    return along_axes([ints(n) | block_slices(n) for n in grid])
