# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Documents and chunks that lie: each ends in its class of error, and no claim costs memory.

All are tried by one process that may not grow by more than some hundred megabytes.
"""

import gzip
import json
import pickle
import struct
import subprocess
import sys
import zlib

import numcodecs
import numpy as np
import pytest

ARRAY_2 = {
    "zarr_format": 2,
    "shape": [10],
    "chunks": [4],
    "dtype": "<i4",
    "compressor": None,
    "filters": None,
    "fill_value": 0,
    "order": "C",
}
ARRAY_3 = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [10],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
    "chunk_key_encoding": {"name": "default"},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "attributes": {},
}
BYTES_3 = ARRAY_3["codecs"][0]
GONE = object()

METADATA, UNSUPPORTED = "MetadataError", "UnsupportedError"
CORRUPT, MISSING_NODE = "CorruptChunkError", "NodeNotFoundError"
FINE = "fine"


class Raw(str):
    """JSON as it is to stand in the document."""

    __slots__ = ()


NOT_LENGTHS = [
    *([-1], [1.5], ["10"], [None], [True], [[10]], [{}]),
    *([1 << 63], [-(1 << 63)], [1 << 64], [10**400], Raw("[1e400]"), Raw("[NaN]"), Raw("[-0.5]")),
    *(None, 10, "10", {}, True, GONE, Raw("[10"), [10] * 70),
]

LIES_2 = [
    *(({"shape": lie}, METADATA) for lie in NOT_LENGTHS),
    *(({"chunks": lie}, METADATA) for lie in [*NOT_LENGTHS, [0], [], [4, 4]]),
    ({"shape": [10, 10]}, METADATA),
    ({"shape": []}, METADATA),
    ({"shape": [1 << 62] * 2, "chunks": [1 << 62] * 2}, METADATA),
    ({"shape": [1 << 32] * 2, "chunks": [1, 1]}, METADATA),
    ({"shape": [1 << 62] * 64, "chunks": [1] * 64}, METADATA),
    ({"shape": [3, 3], "chunks": [1 << 40, 1 << 40]}, METADATA),
    ({"chunks": [1 << 61]}, METADATA),
    ({"chunks": [1 << 40]}, METADATA),  # more than a chunk may have
    ({"shape": [1 << 62], "chunks": [1 << 20]}, FINE),
    ({"chunks": [1 << 31]}, FINE),
    ({"shape": [0], "chunks": [1 << 31]}, FINE),
    *(({"dtype": d}, METADATA) for d in ("<i3", "<i", "i4", "=i4", "|i4", "", "<", "\0", "<x4")),
    *(
        ({"dtype": d}, METADATA)
        for d in ("|S0", "|S-1", "|S", "<U0", "|S99999999999", "<U1073741825")
    ),
    *(({"dtype": d}, UNSUPPORTED) for d in ("|S16777217", "<U4194305", "|V2147483647")),
    *(({"dtype": d}, METADATA) for d in (5, None, {}, True, GONE, "<i4" * 10_000, "|O", "<i4\0")),
    *(({"dtype": d}, UNSUPPORTED) for d in ("<c32", "<M8[s/3]", "<m8[eon]", "|t4", "<f16")),
    *(
        ({"dtype": d}, METADATA)
        for d in ("|V0", "|V", "<c4", "<M8[0s]", "<M8[", "<m8[2147483648s]")
    ),
    *(
        ({"dtype": d, "fill_value": v}, METADATA)
        for d, v in (("<c8", 0), ("<c8", [0]), ("<c8", [0, {}]), ("|V4", "x"), ("<M8[s]", "now"))
    ),
    ({"dtype": [["a", "<i4"]]}, UNSUPPORTED),
    ({"dtype": "|S1073741824", "shape": [1], "chunks": [1]}, UNSUPPORTED),
    ({"dtype": "|S16777216", "shape": [1], "chunks": [1]}, FINE),
    *(({"fill_value": v}, METADATA) for v in ("x", 1.5, 1 << 31, -(1 << 31) - 1, [], {}, 1 << 70)),
    *(({"fill_value": Raw(v)}, METADATA) for v in ("NaN", "Infinity", "1e400", "1e10", "-1e-9")),
    ({"fill_value": Raw("2e9")}, FINE),
    ({"fill_value": None}, FINE),
    *(({"order": o}, METADATA) for o in ("A", "", None, GONE, 0, ["C"])),
    *(({"dimension_separator": s}, METADATA) for s in ("-", "", "//", 5, None, ["."])),
    *(
        ({"zarr_format": v}, METADATA)
        for v in (1, 3, -2, "2", None, GONE, Raw("NaN"), [2], 1 << 64)
    ),
    *(({"compressor": c}, METADATA) for c in ("zlib", [], {}, 5, True, {"id": 5}, {"id": ""})),
    *(({"compressor": {"id": i}}, UNSUPPORTED) for i in ("nope", "x" * 100_000, "ZLIB")),
    ({"compressor": {"id": "bz2"}}, FINE),  # numcodecs is here, and no chunk
    ({"compressor": {"id": "bz2", "level": 1, "more": 1}}, METADATA),
    ({"compressor": {"id": "zlib\0"}}, METADATA),
    *(
        ({"filters": f}, METADATA)
        for f in ({}, "x", 5, [5], [{}], [None], [[]], [{"id": "vlen-utf8"}])
    ),
    *(({"filters": [{"id": i}]}, UNSUPPORTED) for i in ("nope", "transpose", "bytes", "pickle")),
    *(
        ({"filters": [f]}, METADATA)
        for f in (
            {"id": "delta"},
            {"id": "delta", "dtype": []},
            {"id": "delta", "dtype": "<f8", "astype": {}},
            {"id": "fixedscaleoffset", "dtype": "<i2", "scale": [], "offset": 0},
            {"id": "quantize", "dtype": "<i2"},
            {"id": "bitround", "keepbits": -1},
            {"id": "shuffle", "elementsize": "2"},
            {"id": "crc32", "location": 0},
        )
    ),
    ({"filters": [{"id": "delta", "dtype": "x" * 100_000}]}, METADATA),
    ({"filters": [{"id": "shuffle", "elementsize": 2**62}]}, FINE),
    ({"filters": [{"id": "shuffle", "elementsize": -(2**62)}] * 15}, FINE),
    ({"filters": [{"id": "zlib"}] * 14}, FINE),
    ({"filters": [{"id": "zlib"}] * 1000}, UNSUPPORTED),
    ({"dtype": "|O", "filters": [{"id": "vlen-utf8"}] * 2, "fill_value": ""}, METADATA),
    ({"dtype": "|O", "filters": [{"id": "pickle"}], "fill_value": ""}, UNSUPPORTED),
]

TEXTS = [
    *((b, METADATA) for b in (b"", b" ", b"{", b"[]", b"null", b"5", b'"x"', b"\0", b"{}")),
    *((b"[" * n, METADATA) for n in (100, 100_000, 3_000_000)),
    (b'{"a":' * 1_000_000, METADATA),
    (b'{"zarr_format": 2, "a": ' + b"[" * 1000 + b"]" * 1000 + b"}", METADATA),
    (b'{"zarr_format": 2, "shape": [' + b"1," * 1_000_000 + b"1]}", METADATA),
    (b'{"zarr_format": ' + b"9" * 1_000_000 + b"}", METADATA),
    (b"{" + b'"a":1,' * 300_000 + b'"a":1}', METADATA),
    (b'{"' + b"k" * 5_000_000, METADATA),
]


def texts_of(document):
    text = json.dumps(document).encode()
    yield from TEXTS
    yield text + b"x", METADATA
    yield text + text, METADATA
    yield text.replace(b'"', b"'"), METADATA
    yield text.decode().encode("utf-16"), METADATA
    yield text[:-1] + b', "\xff": 1}', METADATA
    yield text[:-1] + b', "a": "\\ud800"}', METADATA
    yield text[:-1] + b",}", METADATA
    yield text[:-1] + b', "shape": [-1]}', METADATA  # the last one counts, as Python has it
    for length in range(0, len(text), 13):
        yield text[:length], METADATA


def grid(lie):
    return {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": lie}}}


def codecs(*names):
    return {
        "codecs": [
            BYTES_3 if n == "bytes" else {"name": n} if isinstance(n, str) else n for n in names
        ]
    }


def transposed(order):
    return {"name": "transpose", "configuration": {"order": order}}


LIES_3 = [
    *(({"shape": lie}, METADATA) for lie in NOT_LENGTHS),
    *((grid(lie), METADATA) for lie in [*NOT_LENGTHS, [0], [], [4, 4]]),
    *(
        ({"chunk_grid": g}, METADATA)
        for g in (None, 5, [], {}, GONE, {"name": 5}, {"name": "regular"})
    ),
    ({"chunk_grid": {"name": "rectilinear", "configuration": {}}}, UNSUPPORTED),
    ({"shape": [1 << 62] * 2, **grid([1 << 62] * 2)}, METADATA),
    (grid([1 << 40]), METADATA),
    (grid([1 << 31]), FINE),
    *(({"node_type": n}, METADATA) for n in ("x", "", None, GONE, 5, ["array"])),
    *(({"zarr_format": v}, METADATA) for v in (2, 4, "3", None, Raw("NaN"), 1 << 64)),
    *(({"data_type": d}, METADATA) for d in (5, None, GONE, [], {}, {"name": 5})),
    *(({"data_type": d}, UNSUPPORTED) for d in ("int3", "complex8", "r", "", "x" * 100_000)),
    *(({"data_type": d}, METADATA) for d in ("r0", "r12", "raw_bytes", "r" + "9" * 100_000)),
    *(
        ({"data_type": {"name": "numpy.datetime64", "configuration": c}}, METADATA)
        for c in (
            {},
            None,
            {"unit": "s"},
            {"unit": "s", "scale_factor": 0},
            {"unit": "s", "scale_factor": 1 << 31},
            {"unit": 5, "scale_factor": 1},
        )
    ),
    ({"data_type": "complex64"}, METADATA),  # whose fill value is a pair
    ({"data_type": "r32", "fill_value": [0, 0, 0, 256]}, METADATA),
    *(
        ({"data_type": {"name": n, "configuration": c}, "fill_value": ""}, METADATA)
        for n in ("null_terminated_bytes", "fixed_length_utf32")
        for c in (
            {},
            None,
            {"length_bytes": -4},
            {"length_bytes": 1 << 62},
            {"length_bytes": 0},
            {"length_bytes": "4"},
        )
    ),
    ({"data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 7}}}, METADATA),
    *(({"fill_value": v}, METADATA) for v in (None, GONE, "x", 1.5, 1 << 31, [], {}, Raw("NaN"))),
    ({"data_type": "float32", "fill_value": "0x7fc0"}, METADATA),
    ({"data_type": "float32", "fill_value": "0x7fc00001"}, FINE),
    *(({"chunk_key_encoding": e}, METADATA) for e in (None, 5, [], {}, GONE, {"name": 5})),
    ({"chunk_key_encoding": {"name": "nope"}}, UNSUPPORTED),
    ({"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "-"}}}, METADATA),
    *(({"codecs": c}, METADATA) for c in (None, GONE, [], {}, "bytes", 5, [5], [None], [{}], [[]])),
    (codecs("nope", "bytes"), UNSUPPORTED),
    (codecs("bytes", "nope"), UNSUPPORTED),
    (codecs("bytes", "zlib"), UNSUPPORTED),  # a codec of format 2 only
    (codecs("bytes", "bytes"), METADATA),
    (codecs("gzip", "bytes"), METADATA),
    (codecs("gzip"), METADATA),
    (codecs("vlen-utf8"), METADATA),
    (codecs("bytes", transposed([0])), METADATA),
    *(
        (codecs(transposed(o), "bytes"), METADATA)
        for o in ([1], [-1], [0, 0], [], None, "X", [0.5], [1 << 63])
    ),
    (codecs(transposed([0]), "bytes"), FINE),
    ({"codecs": [{"name": "bytes", "configuration": {"endian": "middle"}}]}, METADATA),
    ({"codecs": [{"name": "bytes"}]}, METADATA),
    (codecs("bytes", *["crc32c"] * 1000), UNSUPPORTED),
    ({"storage_transformers": [{"name": "x"}]}, UNSUPPORTED),
    ({"storage_transformers": "x"}, METADATA),
    ({"extension": {"name": "x"}}, UNSUPPORTED),
    ({"extension": {"name": "x", "must_understand": True}}, UNSUPPORTED),
    ({"extension": {"name": "x", "must_understand": False}}, FINE),
    *(({"attributes": a}, METADATA) for a in (5, [], "x")),
    *(({"dimension_names": n}, METADATA) for n in (5, "x", {}, [5], ["a", "b"], [["a"]])),
]


def to_json(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        members = [f"{json.dumps(k)}: {to_json(v)}" for k, v in value.items() if v is not GONE]
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_json, value)) + "]"
    return json.dumps(value)


def content_of(document, lies, key):
    return {**ROOTS[key], f"x/{key}": to_json({**document, **lies}).encode()}


ROOTS = {
    ".zarray": {".zgroup": b'{"zarr_format": 2}'},
    "zarr.json": {"zarr.json": b'{"zarr_format": 3, "node_type": "group"}'},
}


# ---- Chunks ----

RAW = np.arange(4, dtype="<i4").tobytes()
HUGE = bytes(50_000_000)
BLOSC = bytes(numcodecs.Blosc("zstd", 1, 1).encode(np.arange(1000, dtype="<i4")))


def blosc_header(version=2, codec=1, flags=0x21, typesize=4, raw=16, block=16, stored=40):
    return struct.pack("<BBBBIII", version, codec, flags, typesize, raw, block, stored) + bytes(24)


def texts_encoded(count, lengths, data=b""):
    return struct.pack("<I", count) + b"".join(struct.pack("<I", n) for n in lengths) + data


def chunk(compressor, data, **document):
    document = {"compressor": compressor and {"id": compressor}, **document}
    return {**content_of(ARRAY_2, document, ".zarray"), "x/0": data}


TEXT = {"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "fill_value": ""}
BIG = {"chunks": [1 << 31]}  # 8 GiB
zstd = numcodecs.Zstd(1).encode

CHUNKS = {
    "raw, short": chunk(None, RAW[:-1]),
    "raw, long": chunk(None, RAW + b"\0"),
    "raw, empty": chunk(None, b""),
    "raw, of a chunk that is huge": chunk(None, RAW, **BIG),
    "zlib, a bomb": chunk("zlib", zlib.compress(HUGE)),
    "gzip, a bomb": chunk("gzip", gzip.compress(HUGE)),
    "zstd, a bomb": chunk("zstd", bytes(zstd(HUGE))),
    "zlib, of a chunk that is huge": chunk("zlib", zlib.compress(RAW), **BIG),
    "gzip, of a chunk that is huge": chunk("gzip", gzip.compress(RAW), **BIG),
    "zstd, of a chunk that is huge": chunk("zstd", bytes(zstd(RAW)), **BIG),
    "zstd, claims 2**62 bytes": chunk(
        "zstd", b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 62) + b"\1\0\0"
    ),
    "zstd, claims the chunk that is huge": chunk(
        "zstd", b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 33) + b"\1\0\0", **BIG
    ),
    "zstd, a window of 2 GiB for a chunk that is huge": chunk(
        "zstd", b"\x28\xb5\x2f\xfd\x00\xa8\x01\0\0", **BIG
    ),
    "zstd, empty": chunk("zstd", b""),
    "lz4, claims 2 GiB": chunk("lz4", struct.pack("<I", 0x7FFFFFFF) + bytes(20)),
    "lz4, claims -1": chunk("lz4", b"\xff\xff\xff\xff" + bytes(20)),
    "lz4, empty": chunk("lz4", b""),
    "blosc, 15 bytes": chunk("blosc", BLOSC[:15]),
    "blosc, of another chunk": chunk("blosc", BLOSC),
    "blosc, claims 4 GiB": chunk("blosc", blosc_header(raw=0xFFFFFFFF)),
    "blosc, claims the chunk that is huge": chunk(
        "blosc", blosc_header(raw=1 << 31, block=1 << 31), chunks=[1 << 29]
    ),
    "blosc, blocks of nothing": chunk("blosc", blosc_header(block=0)),
    "blosc, blocks of 4 GiB": chunk("blosc", blosc_header(block=0xFFFFFFFF)),
    "blosc, blocks of 1 byte": chunk("blosc", blosc_header(raw=1 << 31, block=1), chunks=[1 << 29]),
    "blosc, items of nothing": chunk("blosc", blosc_header(typesize=0)),
    "blosc, stored less than its header": chunk("blosc", blosc_header(stored=3)),
    "blosc, stored more than there is": chunk("blosc", blosc_header(stored=1 << 30)),
    "blosc, version 9": chunk("blosc", blosc_header(version=9)),
    "blosc, codec 7": chunk("blosc", blosc_header(flags=0xE1)),
    "text, claims 4 G items": chunk(None, texts_encoded(0xFFFFFFFF, []), **TEXT),
    "text, too few items": chunk(None, texts_encoded(3, [0, 0, 0]), **TEXT),
    "text, too many items": chunk(None, texts_encoded(5, [0] * 5), **TEXT),
    "text, an item of 4 GiB": chunk(None, texts_encoded(4, [0xFFFFFFFF, 0, 0, 0]), **TEXT),
    "text, an item of 2 GiB": chunk(None, texts_encoded(4, [0x80000000, 0, 0, 0]), **TEXT),
    "text, no UTF-8": chunk(None, texts_encoded(4, [0, 0, 0, 1], b"\xff"), **TEXT),
    "text, cut": chunk(None, texts_encoded(4, [0, 0, 0]), **TEXT),
    "text, empty": chunk(None, b"", **TEXT),
    "text, too long": chunk(None, texts_encoded(4, [0] * 4, b"x"), **TEXT),
    "text, of a chunk that is huge": chunk(None, texts_encoded(1 << 31, [0] * 4), **TEXT, **BIG),
    "text, zstd, a bomb": chunk("zstd", bytes(zstd(HUGE)), **TEXT),
    "text, blosc, claims 2 GiB": chunk("blosc", blosc_header(raw=1 << 31, block=1 << 20), **TEXT),
    "filters, a bomb in a bomb": chunk(
        "zlib", zlib.compress(zlib.compress(HUGE)), filters=[{"id": "zlib"}]
    ),
}


# ---- All of them ----


def all_cases():
    """Number, what it is, the store, what is to be expected."""
    formats = {".zarray": (ARRAY_2, LIES_2), "zarr.json": (ARRAY_3, LIES_3)}
    for key, (document, lies) in formats.items():
        for lie, expected in lies:
            yield f"{key} {to_json(lie)[:70]}", content_of(document, lie, key), expected
        for text, expected in texts_of(document):
            name = f"{key} text of {len(text)}: {text[-20:]!r}"
            yield name, {**ROOTS[key], f"x/{key}": text}, expected
    for name, content in CHUNKS.items():
        # Of a chunk that is huge by its document, all may be asked for before it is found corrupt.
        may_be_memory = name.startswith(("zlib", "gzip", "zstd")) and "huge" in name
        yield f"chunk {name}", content, (CORRUPT, "MemoryError") if may_be_memory else CORRUPT


CASES = list(all_cases())

CHILD = """
import json, pickle, resource, sys
import numpy as np
import vczc

MB = 1 << 20
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 300 * MB, -1))

def attempt(content):
    array = vczc.open(content)["x"]
    if array.nchunks:
        first = (0,) * array.ndim
        array.blocks[first]
        array.blocks.read(first, threads=2)
        array[first] if array.ndim else array[()]
        array.blocks[tuple(n - 1 for n in array.cdata_shape)]
    return "fine", ""

for content in pickle.load(sys.stdin.buffer):
    try:
        outcome = attempt(content)
    except Exception as err:
        outcome = type(err).__name__, str(err)
    # Once more by parts and by text, which may fail otherwise than the first time, but not crash.
    try:
        array = vczc.open(content)["x"]
        array[1:3], array.oindex[[0, 2]], array.blocks.stored((0,))
    except (vczc.Error, IndexError, MemoryError):
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps([*outcome, peak]), flush=True)
"""


@pytest.fixture(scope="module")
def outcomes():
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=pickle.dumps([content for _, content, _ in CASES]),
        capture_output=True,
        check=False,
        timeout=100,
    )
    lines = done.stdout.splitlines()
    at = CASES[len(lines)][0] if len(lines) < len(CASES) else "the end"
    assert (done.returncode, done.stderr.decode()[-2000:]) == (0, ""), at
    return [json.loads(line) for line in lines]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda i: f"{i} {CASES[i][0]}")
def test_outcome(outcomes, number):
    _, _, expected = CASES[number]
    outcome, message, _ = outcomes[number]
    assert len(message) < 1000
    assert outcome in (expected if isinstance(expected, tuple) else (expected,)), message
    if expected != FINE:
        assert len(message) < 1200
        assert "'x'" in message or "x/" in message
    if outcome == CORRUPT:
        assert "array 'x', chunk (0)" in message


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")
def test_memory(outcomes):
    """In megabytes. One of the bombs is text, whose size no document bounds: 50 MB, and a copy."""
    peaks = [peak for _, _, peak in outcomes]
    assert peaks[-1] - peaks[0] < 150
