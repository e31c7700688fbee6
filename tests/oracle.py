# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""zarr-python as the judge: what it wrote, as mappings from keys to bytes, and comparison."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import zarr
import zarr.dtype
from zarr.core.buffer.cpu import Buffer
from zarr.storage import MemoryStore

import vczc

TEXT, BYTES = "text", "bytes"  # of variable length
DTYPES = (
    *("?", "i1", "u1"),
    *(order + name for name in ("i2", "u2", "i4", "u4", "i8", "u8") for order in "<>"),
    *(order + name for name in ("f2", "f4", "f8", "c8", "c16") for order in "<>"),
    *("<M8[ns]", ">M8[D]", ">m8[10s]", "<m8", "V1", "V3"),
    *("S1", "S5", "<U1", ">U1", "<U3", ">U3"),
    *(TEXT, BYTES),
)
KINDS = ("directory", "stored zip", "deflated zip", "mapping")
FORMATS = (2, 3)

_LETTERS = np.array([ord(c) for c in "ACGT.ü変🧬"], "u4")
_TEXTS = ["", ".", "A", "ACGT", "üß", "変異", "🧬🧬", "a\0b", "x" * 70]


# ---- Items ----


def values(dtype: str, shape: tuple[int, ...], seed: int = 0, style: str = "random") -> np.ndarray:
    """Items of any bit pattern that the type has, or few of them in runs, which compress."""
    rng = np.random.default_rng(seed)
    n = int(np.prod(shape, dtype=int))
    if dtype in (TEXT, BYTES):
        texts = [t if dtype == TEXT else t.encode() + b"\xff\0"[: len(t)] for t in _TEXTS]
        out = np.empty(n, object)
        out[:] = [texts[i] for i in rng.integers(0, len(texts), n)]
    elif "U" in dtype:
        width = np.dtype(dtype).itemsize // 4
        points = _LETTERS[rng.integers(0, len(_LETTERS), (n, width))]
        points[rng.random((n, width)) < 0.2] = 0
        out = points.astype(np.dtype("u4").newbyteorder(dtype[0])).view(dtype).reshape(n)
    elif dtype == "?":
        out = rng.integers(0, 2, n).astype(bool)
    else:
        out = rng.integers(0, 256, n * np.dtype(dtype).itemsize, "u1").view(dtype)
    if style == "runs" and n:
        out = out[np.sort(rng.integers(0, n, n)) // 7 * 7 % n]
    elif style == "small" and out.dtype.kind in "iu":  # most bit planes are zero
        out = rng.integers(0, 3, n).astype(dtype)
    return out.reshape(shape)


# ---- Stores ----


@dataclass(frozen=True)
class Stored:
    """One array `x` of a store: its bytes, and what zarr-python reads."""

    content: dict[str, bytes]
    array: zarr.Array
    whole: np.ndarray  # in native byte order

    def blocks(self):
        """The place in the grid and the items of each chunk."""
        chunks = self.array.chunks
        grid = [-(-n // c) for n, c in zip(self.array.shape, chunks, strict=True)]
        for at in np.ndindex(*grid):
            part = tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, chunks, strict=True))
            yield at, self.whole[(*part, ...)]


def write(data: Any, chunks: tuple[int, ...], dtype: str | None = None, **settings: Any) -> Stored:
    """Let zarr-python write `data`. `order` is that of the items inside a chunk in either format.

    Chunks of nothing but the fill value are written too, unless `write_empty_chunks` is False.
    `shards` puts the chunks into shards (format 3).
    """
    data = np.asarray(data)
    dtype = dtype or data.dtype.str
    zarr_format = settings.setdefault("zarr_format", 2)
    settings["config"] = {"write_empty_chunks": settings.pop("write_empty_chunks", True)}
    separator = settings.pop("separator", None)
    order = settings.pop("order", "C")
    shards = settings.pop("shards", None)
    if separator is not None:
        name = settings.pop("keys", "v2" if zarr_format == 2 else "default")
        settings["chunk_key_encoding"] = {"name": name, "separator": separator}
    if zarr_format == 2:
        settings["order"] = order
        if filters := settings.get("filters"):  # of which zarr-python 3.1 takes no dicts
            settings["filters"] = [
                numcodecs.get_codec(dict(f)) if isinstance(f, dict) else f for f in filters
            ]
    else:
        if order == "F" and data.ndim > 1:
            axes = tuple(reversed(range(data.ndim)))
            settings["filters"] = [zarr.codecs.TransposeCodec(order=axes)]
        if dtype.startswith(">"):
            settings["serializer"] = zarr.codecs.BytesCodec(endian="big")
        if shards is not None:
            chunks = _shard(settings, chunks, dtype, shards)
    store = MemoryStore()
    array = zarr.create_array(
        store,
        name="x",
        shape=data.shape,
        chunks=chunks,
        dtype=_zarr_dtype(dtype, data),
        **settings,
    )
    array[...] = data
    return read({key: value.to_bytes() for key, value in store._store_dict.items()})


@dataclass(frozen=True)
class Shards:
    """How many chunks a shard has along each axis, of each level, the innermost first."""

    factors: tuple[tuple[int, ...], ...]
    index_location: str = "end"
    index_codecs: tuple[Any, ...] = (zarr.codecs.BytesCodec(), zarr.codecs.Crc32cCodec())
    compressors: tuple[Any, ...] = ()  # of the shard as a whole


def _shard(
    settings: dict[str, Any], chunks: tuple[int, ...], dtype: str, shards: Shards
) -> tuple[int, ...]:
    """Move the codecs in `settings` into shards; gives the shape of the outermost shard."""
    of_text = {TEXT: zarr.codecs.VLenUTF8Codec(), BYTES: zarr.codecs.VLenBytesCodec()}
    serializer = settings.get("serializer", of_text.get(dtype, zarr.codecs.BytesCodec()))
    compressors = settings.get("compressors", zarr.codecs.ZstdCodec(level=1)) or ()
    compressors = compressors if isinstance(compressors, (list, tuple)) else (compressors,)
    codecs = [*settings.pop("filters", ()), serializer, *compressors]
    for factors in shards.factors:
        codec = zarr.codecs.ShardingCodec(
            chunk_shape=chunks,
            codecs=codecs,
            index_location=shards.index_location,
            index_codecs=shards.index_codecs,
        )
        codecs = [codec]
        chunks = tuple(c * n for c, n in zip(chunks, factors, strict=True))
    settings["serializer"] = codecs[0]
    settings["compressors"] = list(shards.compressors) or None
    return chunks


def _zarr_dtype(dtype: str, data: np.ndarray) -> Any:
    if dtype == TEXT:
        return str
    return zarr.dtype.VariableLengthBytes() if dtype == BYTES else data.dtype


def read(content: dict[str, bytes]) -> Stored:
    """Let zarr-python read what is in `content`."""
    store = MemoryStore({key: Buffer.from_bytes(value) for key, value in content.items()})
    array = zarr.open_array(store, path="x", mode="r")
    return Stored(content, array, native(array[...], array.dtype))


def by_hand(encoded: dict[str, bytes], **document: Any) -> dict[str, bytes]:
    """A store of format 2 with one array `x`, whose chunks are given encoded."""
    whole = {
        "zarr_format": 2,
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
        **document,
    }
    return {
        ".zgroup": b'{"zarr_format": 2}',
        "x/.zarray": json.dumps(whole).encode(),
        **{f"x/{key}": value for key, value in encoded.items()},
    }


def nchunks_stored(stored: Stored) -> int:
    """As zarr-python counts them: a shard counts for all chunks that it has room for."""
    array = stored.array
    per_key = 1
    if array.shards is not None:
        per_key = int(np.prod(array.shards) // np.prod(array.chunks))
    return per_key * sum(map(is_chunk, stored.content))


def is_chunk(key: str) -> bool:
    name = key.rpartition("/")[2]
    return key.startswith("x/") and (name == "c" or name.lstrip("c").replace(".", "").isdigit())


def zip_bytes(content: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for key, value in content.items():
            archive.writestr(key, value)
    return file.getvalue()


def source(content: dict[str, bytes], kind: str, folder: Path) -> Any:
    """What `vczc.open` takes: `content` below `folder`, or as it is."""
    if kind == "mapping":
        return content
    if kind == "directory":
        root = folder / "store"
        for key, value in content.items():
            (root / key).parent.mkdir(parents=True, exist_ok=True)
            (root / key).write_bytes(value)
        return root
    method = zipfile.ZIP_DEFLATED if kind == "deflated zip" else zipfile.ZIP_STORED
    path = folder / f"{kind}.zip"
    path.write_bytes(zip_bytes(content, method))
    return path


# ---- Comparison ----


def native(data: Any, dtype: Any = None) -> np.ndarray:
    """An ndarray in native byte order, with every bit kept; of a scalar, one of `dtype`."""
    if not isinstance(data, np.ndarray):
        data = np.array(data, dtype)
    return data if data.dtype.isnative else data.byteswap().view(data.dtype.newbyteorder("="))


def native_type(dtype: Any) -> np.dtype:
    return np.dtype(dtype).newbyteorder("=")


def assert_same(got: Any, expected: Any) -> None:
    """The same type, shape and bits."""
    if isinstance(expected, (str, bytes)) and not isinstance(got, np.ndarray):
        assert type(got) is type(expected)
        assert got == expected
        return
    got = np.asarray(got)
    expected = native(expected, got.dtype if isinstance(expected, (str, bytes)) else None)
    assert got.shape == expected.shape
    if expected.dtype.kind in "OT":
        assert got.dtype.kind == expected.dtype.kind
        assert got.tolist() == expected.tolist()
    else:
        assert got.dtype == expected.dtype
        assert got.tobytes() == expected.tobytes()


def assert_reads_as(array: vczc.Array, stored: Stored) -> None:
    """Every block, and the whole."""
    assert array.shape == stored.array.shape
    assert array.chunks == stored.array.chunks
    assert array.dtype == native(stored.whole).dtype
    assert array.dtype.isnative
    nblocks = 0
    for at, block in stored.blocks():
        assert_same(array.blocks[at], block)
        nblocks += 1
    assert array.nchunks == nblocks
    assert_same(np.asarray(array), stored.whole)


def three_chunks(zarr_format: int) -> Stored:
    """Rows of numbers, 40 KB a chunk and not compressed: most pages of a file hold one alone."""
    rows = values("<i4", (600, 50))
    return write(rows, (200, 50), zarr_format=zarr_format, compressors=None)


def chunk_file(folder: Path, i: int) -> Path:
    """Of chunk (i, 0) of the array x in a directory, of either format."""
    for name in (f"{i}.0", f"c/{i}/0"):
        if (folder / "x" / name).exists():
            return folder / "x" / name
    raise AssertionError(i)
