# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Arrays under filters of numcodecs, stored by numcodecs itself."""

from __future__ import annotations

import json

import numcodecs
import numpy as np
import oracle

import vczc

TYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")
ORDERED = tuple(o + t for t in TYPES for o in ("<>" if t[-1] in "248" else "|"))


def numbers(dtype, shape, seed=0, *, fit=None):
    """Of every size that the type has, no NaN; such as `fit` can hold, where that is given."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    n = int(np.prod(shape, dtype=int))
    if dtype.kind != "f":
        return oracle.values(dtype.str if dtype.kind != "b" else "?", shape, seed).view(dtype)
    lo, hi = -60000.0, 60000.0
    if fit is not None and np.dtype(fit).kind in "iub":
        info = np.iinfo(fit if np.dtype(fit).kind != "b" else "u1")
        lo, hi = max(lo, float(info.min)), min(hi, float(info.max))
    out = rng.uniform(lo, hi, n) * 10.0 ** -rng.integers(0, 5, n)
    return out.astype(dtype).reshape(shape)


def encode(data, codecs, order="C"):
    """A chunk of `data` as zarr-python would store it."""
    chunk = data.reshape(-1, order=order)
    for codec in codecs:
        chunk = codec.encode(chunk)
    return np.ascontiguousarray(numcodecs.compat.ensure_ndarray(chunk)).tobytes()


def store(encoded, data_or_shape, dtype, filters, compressor=None, order="C"):
    shape = list(getattr(data_or_shape, "shape", data_or_shape))
    key = ".".join("0" for _ in shape)
    return oracle.by_hand(
        {key: encoded},
        shape=shape,
        chunks=shape,
        dtype=np.dtype(dtype).str,
        order=order,
        fill_value=None,
        filters=[json.loads(json.dumps(f.get_config())) for f in filters] or None,
        compressor=None if compressor is None else compressor.get_config(),
    )


def check(data, filters, compressor=None, order="C"):
    """Read what numcodecs made of `data`, and compare with what zarr-python reads."""
    chain = [*filters, *(() if compressor is None else (compressor,))]
    stored = oracle.read(
        store(encode(data, chain, order), data, data.dtype, filters, compressor, order)
    )
    array = vczc.open(stored.content)["x"]
    oracle.assert_reads_as(array, stored)
    return array, stored


def small(dtype, shape=(41, 9)):
    values = np.random.default_rng(5).integers(-100, 100, shape)
    return values > 0 if dtype == "|b1" else values.astype(dtype)


CHECKSUMS = [
    *(
        c(location=where)
        for c in (numcodecs.CRC32, numcodecs.Adler32)
        for where in ("start", "end")
    ),
    *(numcodecs.get_codec({"id": "crc32c", "location": where}) for where in ("start", "end")),
    numcodecs.get_codec({"id": "fletcher32"}),
    numcodecs.JenkinsLookup3(),
    numcodecs.JenkinsLookup3(initval=123456789),
]
