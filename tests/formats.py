# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What vczc reads, as a list: tests/test_conformance.py reads every row of it, and `./dev formats`
makes the tables of docs/formats.md from it. What is read is added here, and nowhere else.

Plain data: codecs are as the documents have them. Nothing but the standard library is imported.
"""

from __future__ import annotations

import pathlib
import re
from dataclasses import dataclass, field
from typing import Any

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "formats.md"

TEXT, BYTES = "text", "bytes"  # of variable length; as in tests/oracle.py
ANY = ("i1", ">u2", "<f4", ">c8", "S5", ">U3", "V3", TEXT, BYTES)
NOT_RAW = tuple(dtype for dtype in ANY if dtype != "V3")  # zarr-python cannot shard it

TENSORSTORE, ZARRS, ZARRISTA = "tensorstore", "zarrs", "zarrista"


@dataclass(frozen=True)
class Row:
    """One thing that is read.

    `cells` say how each format calls it, for the page; a format without one does not have it.
    `dtypes` are written with each of `settings`, which are those of tests/oracle.py's `write`, but
    for `shards`: so many chunks along each axis, level by level, the index at `index_location`;
    `changes` are then made to the array's document, where zarr-python cannot write what is meant.
    `others` write and read it too, and have to agree.
    """

    what: str
    cells: dict[int, str]
    dtypes: tuple[str, ...] = ANY
    settings: dict[int, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    changes: dict[int, dict[str, Any]] = field(default_factory=dict)
    others: dict[int, tuple[str, ...]] = field(default_factory=dict)
    is_lossy: bool = False  # what zarr-python reads counts, not what was written

    def variants(self, zarr_format: int) -> tuple[dict[str, Any], ...]:
        return self.settings.get(zarr_format, ({},))


def both(cell: str) -> dict[int, str]:
    return {2: cell, 3: cell}


def named(name: str, **configuration: Any) -> dict[str, Any]:
    """A codec of format 3."""
    return {"name": name, "configuration": configuration}


def compressors(*codecs: dict[str, Any]) -> dict[str, Any]:
    return {"compressors": codecs[0] if "id" in codecs[0] else list(codecs)}


def orders(*names: str) -> tuple[str, ...]:
    return tuple(order + name for name in names for order in "<>")


def blosc(cname: str) -> dict[int, tuple[dict[str, Any], ...]]:
    """Every shuffle, of one of the codecs that a frame may hold."""
    settings = {"cname": cname, "clevel": 5, "blocksize": 0}
    shuffles = ("noshuffle", "shuffle", "bitshuffle")
    return {
        2: tuple(compressors({"id": "blosc", "shuffle": i, **settings}) for i in range(3)),
        3: tuple(
            compressors(named("blosc", shuffle=name, typesize=1, **settings)) for name in shuffles
        ),
    }


ALL = (TENSORSTORE, ZARRS, ZARRISTA)
EXTRA = "with `vczc[numcodecs]`"

DATA_TYPES = (
    Row("booleans", {2: "`|b1`", 3: "`bool`"}, ("?",), others={2: ALL, 3: ALL}),
    Row(
        "integers of 1 to 8 bytes, with and without sign",
        {2: "`<i4`, `>u2`, …", 3: "`int32`, `uint16`, …"},
        ("i1", "u1", *orders("i2", "u2", "i4", "u4", "i8", "u8")),
        others={2: ALL, 3: ALL},
    ),
    Row(
        "floats of 2, 4, 8 bytes",
        {2: "`<f2`, `>f4`, …", 3: "`float16`, `float32`, `float64`"},
        orders("f2", "f4", "f8"),
        others={2: ALL, 3: ALL},
    ),
    Row(
        "complex numbers of twice 4 or 8 bytes",
        {2: "`<c8`, `>c16`, …", 3: "`complex64`, `complex128`"},
        orders("c8", "c16"),
        others=dict.fromkeys((2, 3), (TENSORSTORE, ZARRISTA)),
    ),
    Row(
        "dates and spans of time, in any unit of NumPy's",
        {2: "`<M8[ns]`, `>m8[10s]`, `<M8`, …", 3: "`numpy.datetime64`, `numpy.timedelta64`"},
        ("<M8[ns]", ">M8[D]", "<M8[7us]", ">m8[10s]", "<m8"),
    ),
    Row(
        "bytes of fixed width",
        {2: "`|S8`", 3: "`null_terminated_bytes`"},
        ("S1", "S5"),
    ),
    Row(
        "text of fixed width",
        {2: "`<U1`, `>U7`, …", 3: "`fixed_length_utf32`"},
        orders("U1", "U3"),
    ),
    Row("raw bytes", {2: "`|V3`", 3: "`raw_bytes`"}, ("V1", "V3")),
    Row(
        "raw bits",
        {3: "`r24`"},
        ("V3",),
        changes={3: {"data_type": "r24", "fill_value": [0, 0, 0]}},
    ),
    Row(
        "text of any length",
        {2: "`|O` with the filter `vlen-utf8`", 3: "`string` with the codec `vlen-utf8`"},
        (TEXT,),
        others={3: (ZARRISTA,)},
    ),
    Row(
        "bytes of any length",
        {
            2: "`|O` with the filter `vlen-bytes`",
            3: "`variable_length_bytes` or `bytes`, with the codec `vlen-bytes`",
        },
        (BYTES,),
    ),
    Row(
        "the same as an object",
        {3: '`{"name": "int16"}`'},
        ("<i2",),
        changes={3: {"data_type": {"name": "int16"}}},
        others={3: (ZARRISTA,)},
    ),
)

CODECS = (
    Row("none", both("yes"), settings={2: ({"compressors": None},), 3: ({"compressors": []},)}),
    *(
        Row(
            f"`blosc` with {cname}, any shuffle",
            both("yes"),
            ("i1", ">u2", "<f4", "S5", TEXT),
            settings=blosc(cname),
            others=dict.fromkeys((2, 3), ALL),
        )
        for cname in ("zstd", "lz4", "lz4hc", "zlib", "blosclz")
    ),
    Row(
        "`zstd`",
        both("yes"),
        settings={
            2: (compressors({"id": "zstd", "level": 3}),),
            3: tuple(compressors(named("zstd", level=1, checksum=c)) for c in (False, True)),
        },
        others=dict.fromkeys((2, 3), ALL),
    ),
    Row(
        "`gzip`",
        both("yes"),
        settings={
            2: (compressors({"id": "gzip", "level": 1}),),
            3: (compressors(named("gzip", level=1)),),
        },
        others=dict.fromkeys((2, 3), ALL),
    ),
    *(
        Row(
            f"`{name}`",
            {2: "yes", 3: f"`numcodecs.{name}`"},
            settings={
                2: (compressors({"id": name, setting: 1}),),
                3: (compressors(named(f"numcodecs.{name}", **{setting: 1})),),
            },
        )
        for name, setting in (("zlib", "level"), ("lz4", "acceleration"))
    ),
    *(
        Row(
            f"`{name}`",
            {2: "yes", 3: f"`numcodecs.{name}`"},
            ("i1", ">u2", "<f4", "S5", "V3"),
            settings={
                2: ({"filters": [{"id": name, **setting}]},),
                3: (compressors(named(f"numcodecs.{name}", **setting)),),
            },
        )
        for name, setting in (
            ("crc32", {"location": "end"}),
            ("adler32", {"location": "start"}),
            ("fletcher32", {}),
            ("jenkins_lookup3", {"initval": 1}),
            ("shuffle", {"elementsize": 1}),
        )
    ),
    *(
        Row(
            f"`{name}`",
            {2: "yes", 3: f"`numcodecs.{name}`"},
            (dtype,),
            settings={
                2: ({"filters": [{"id": name, **setting}]},),
                3: ({"filters": [named(f"numcodecs.{name}", **setting)]},),
            },
            is_lossy=name in ("fixedscaleoffset", "quantize", "bitround"),
        )
        for name, dtype, setting in (
            ("packbits", "?", {}),
            ("delta", "<i4", {"dtype": "<i4", "astype": "<i4"}),
            (
                "fixedscaleoffset",
                "<i2",
                {"dtype": "<i2", "astype": "<i4", "scale": 4, "offset": -3},
            ),
            ("quantize", "<f4", {"digits": 2, "dtype": "<f4", "astype": "<f4"}),
            ("bitround", "<f4", {"keepbits": 5}),
            ("astype", "<i2", {"encode_dtype": "<i8", "decode_dtype": "<i2"}),
        )
    ),
    *(
        Row(
            f"`{name}`",
            {2: EXTRA, 3: f"`numcodecs.{name}` {EXTRA}"},
            settings={
                2: (compressors({"id": name}),),
                3: (compressors(named(f"numcodecs.{name}")),),
            },
        )
        for name in ("bz2", "lzma")
    ),
    Row(
        "`base64`",
        {2: EXTRA},
        ("<f4",),
        settings={2: ({"filters": [{"id": "base64"}], "compressors": None},)},
    ),
    Row(
        "`crc32c`",
        {2: "yes", 3: "yes"},
        ("i1", ">u2", "<f4", "S5", "V3"),
        settings={
            2: ({"filters": [{"id": "crc32c", "location": "end"}]},),
            3: (
                compressors(named("crc32c")),
                compressors(named("zstd", level=1, checksum=False), named("crc32c")),
                compressors(named("crc32c"), named("gzip", level=1)),
            ),
        },
        others={3: ALL},
    ),
    Row(
        "`sharding_indexed`",
        {3: "yes"},
        NOT_RAW,
        settings={
            3: (
                {"shards": (2,)},
                {"shards": (3,), "index_location": "start"},
                {"shards": (2,), **compressors(named("gzip", level=1))},
            )
        },
        others={3: ALL},
    ),
    Row(
        "`sharding_indexed` in `sharding_indexed`",
        {3: "yes"},
        NOT_RAW,
        settings={3: ({"shards": (2, 2)},)},
    ),
    Row(
        "`bytes`, in either byte order",
        {2: "in the data type", 3: "yes"},
        orders("i2", "f8", "c8", "U3"),
    ),
    Row(
        "`transpose`",
        {2: "`order: F`", 3: "yes"},
        settings={2: ({"order": "F"},), 3: ({"order": "F"},)},
        others={2: (TENSORSTORE,), 3: (TENSORSTORE, ZARRS)},
    ),
    Row(
        "`vlen-utf8`, `vlen-bytes`",
        {2: "as filters", 3: "yes"},
        (TEXT, BYTES),
        settings={zarr_format: ({"order": "C"}, {"order": "F"}) for zarr_format in (2, 3)},
    ),
)

KEYS = (
    Row(
        "`0.1`",
        {2: '`dimension_separator: "."`', 3: '`v2` with `"."`'},
        ("<i2", TEXT),
        settings={2: ({"separator": "."},), 3: ({"separator": ".", "keys": "v2"},)},
        others={2: ALL, 3: ALL},
    ),
    Row(
        "`0/1`",
        {2: '`dimension_separator: "/"`', 3: '`v2` with `"/"`'},
        ("<i2", TEXT),
        settings={2: ({"separator": "/"},), 3: ({"separator": "/", "keys": "v2"},)},
        others={2: ALL, 3: ALL},
    ),
    Row(
        "`c/0/1`",
        {3: '`default` with `"/"`'},
        ("<i2", TEXT),
        settings={3: ({"separator": "/"},)},
        others={3: ALL},
    ),
    Row(
        "`c.0.1`",
        {3: '`default` with `"."`'},
        ("<i2", TEXT),
        settings={3: ({"separator": "."},)},
        others={3: ALL},
    ),
)

# Title of the first column, and the rows; docs/formats.md has a pair of marks for each name.
TABLES = {
    "data types": ("kind", DATA_TYPES),
    "codecs": ("codec", CODECS),
    "keys": ("key of a chunk", KEYS),
}
ROWS = tuple(row for _, rows in TABLES.values() for row in rows)


# ---- The page ----


def table(title: str, rows: tuple[Row, ...]) -> str:
    def escaped(cell: str) -> str:
        return cell.replace("|", "\\|")

    lines = [f"| {title} | format 2 | format 3 |", "| --- | --- | --- |"]
    lines += [
        f"| {escaped(r.what)} | {escaped(r.cells.get(2, '–'))} | {escaped(r.cells.get(3, '–'))} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def with_tables(text: str) -> str:
    """The page with its tables as they are to be."""
    for name, (title, rows) in TABLES.items():
        begin, end = f"<!-- {name}: by ./dev formats -->\n", f"<!-- end of {name} -->"
        found = re.compile(f"({re.escape(begin)}).*?({re.escape(end)})", re.DOTALL)
        made = table(title, rows)
        text, count = found.subn(lambda m, made=made: f"{m[1]}\n{made}\n{m[2]}", text)
        if count != 1:
            msg = f"{PAGE} has no marks for the table of {name}"
            raise SystemExit(msg)
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
