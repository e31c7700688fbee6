# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`vczc info`: what a store holds and how, or one array of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.utils import format_filename

import vczc
from vczc.cli import plain as plain_text
from vczc.cli.sources import Walk, codec_words, open_array, path_argument
from vczc.cli.terminal import (
    console,
    dimensions,
    json_option,
    one_line,
    plain,
    plural,
    print_json,
    print_table,
    size,
    styled,
    table,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console

BAR_WIDTH = 10
MAX_FILL = 160  # characters or bytes of a fill value

# What is left out of the table, in this order, until it fits the terminal.
EXPENDABLE = ("dimensions", "codec", "share", "chunks")


@click.command(name="info")
@path_argument
@click.argument("array", required=False)
@json_option
def command(path: str, array: str | None, as_json: bool) -> int:
    """Show what PATH holds and how it is stored, or only its ARRAY.

    What is damaged is named below the table, and makes exit status 1; what vczc does not read, 2.
    """
    node = vczc.open(path) if array is None else open_array(path, array)
    if isinstance(node, vczc.Array):
        summary = array_summary(node)
        print_json(summary) if as_json else print_array(array or format_filename(path), summary)
        return 0
    walk = Walk()
    summary = group_summary(node, walk)
    if as_json:
        print_json({"source": path, **summary})
    else:
        print_group(format_filename(path, shorten=True), summary)
    return walk.status


def group_summary(root: vczc.Group, walk: Walk) -> dict[str, Any]:
    arrays, unreadable = [], []
    attrs: dict[str, Any] = {}
    for name, found in walk.nodes(root):
        try:
            if isinstance(found, vczc.Error):
                raise found
            if isinstance(found, vczc.Array):
                arrays.append({"name": name, **array_summary(found)})
            elif found is root:
                attrs = dict(found.attrs)
            else:
                len(found.attrs)  # parses them, which opening does not
        except vczc.Error as err:
            walk.found(err)
            unreadable.append({"name": name, "reason": one_line(err)})
    dims: dict[str, int] = {}
    for one in arrays:
        for dim, length in zip(one["dims"] or (), one["shape"], strict=False):
            if dim:
                dims.setdefault(dim, length)
    return {
        "zarr_format": root.zarr_format,
        "store": type(root.store).__name__,
        "attrs": attrs,
        "dimensions": dims,
        "nchunks": sum(a["nchunks"] for a in arrays),
        "nchunks_initialized": total(a["nchunks_initialized"] for a in arrays),
        "nbytes": sum(a["nbytes"] for a in arrays),
        "nbytes_stored": total(a["nbytes_stored"] for a in arrays),
        "arrays": arrays,
        "unreadable": unreadable,
    }


def total(counts: Iterable[int | None]) -> int | None:
    """None where one of them is not known."""
    known = list(counts)
    return None if None in known else sum(n for n in known if n is not None)


def stored_counts(array: vczc.Array) -> tuple[int | None, int | None]:
    """Chunks that are stored, and their bytes; None where the store cannot be listed."""
    try:
        return array.nchunks_initialized, array.nbytes_stored()
    except vczc.UnsupportedError:
        return None, None


def array_summary(array: vczc.Array) -> dict[str, Any]:
    nchunks_initialized, nbytes_stored = stored_counts(array)
    return {
        "path": array.path,
        "zarr_format": array.metadata.zarr_format,
        "shape": array.shape,
        "chunks": array.chunks,
        "shards": array.shards,
        "grid": array.cdata_shape,
        "dims": array.dims,
        "dtype": type_name(array.dtype),
        "fill_value": array.fill_value,
        "order": array.order,
        "codec": codec_words(array),
        "compressor": array.compressor,
        "filters": array.filters,
        "codecs": array.codecs,
        "nchunks": array.nchunks,
        "nchunks_initialized": nchunks_initialized,
        "nbytes": array.nbytes,
        "nbytes_stored": nbytes_stored,
        "attrs": dict(array.attrs),
    }


def print_array(name: str, has: Mapping[str, Any]) -> None:
    rows = {
        "shape": named_shape(has["dims"], has["shape"]),
        "type": type_name_and_order(has),
        "chunks": f"{dimensions(has['chunks'])}, in a grid of {dimensions(has['grid'])}",
        "shards": dimensions(has["shards"]) if has["shards"] else "",
        "stored": stored_words(has),
        "codecs": ", ".join(has["codec"]),
        "fill value": "null" if has["fill_value"] is None else fill_text(has["fill_value"]),
        "format": f"Zarr {has['zarr_format']}",
    }
    rows |= {f"{key}": str(value) for key, value in has["attrs"].items() if key[:1] != "_"}
    width = max(map(len, rows))
    out = console()
    out.print(styled((name, "bold cyan")))
    for key, value in rows.items():
        if value:
            out.print(styled("  ", (key.ljust(width), "dim"), "  ", value), soft_wrap=True)


def fill_text(value: Any) -> str:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(plain(value))
    if isinstance(value, np.void):
        value = value.tobytes()
    if isinstance(value, (str, bytes)):
        n = len(value)
        return repr(value) if n <= MAX_FILL else f"{value[:MAX_FILL]!r}… ({n:,} in all)"
    return str(value)


def named_shape(dims: Iterable[str | None] | None, shape: Iterable[int]) -> str:
    shape = tuple(shape)
    named = zip(dims or (), shape, strict=False)
    return " × ".join(f"{n:,} {d}" if d else f"{n:,}" for d, n in named) or dimensions(shape)


def type_name_and_order(has: Mapping[str, Any]) -> str:
    column_major = len(has["shape"]) > 1 and has["order"] == "F"
    return f"{has['dtype']}{', column-major in a chunk' if column_major else ''}"


def stored_words(has: Mapping[str, Any]) -> str:
    """Of a sharded array the shards are counted: what is absent inside them is not looked for."""
    if has["nchunks_initialized"] is None:
        return f"{plural(has['nchunks'], 'chunk')} of {size(has['nbytes'])}, not counted"
    n, of, what = has["nchunks_initialized"], has["nchunks"], "chunk"
    if has["shards"]:
        axes = list(zip(has["shape"], has["chunks"], has["shards"], strict=True))
        n //= math.prod(shard // chunk for _, chunk, shard in axes)
        of, what = math.prod(-(-length // shard) for length, _, shard in axes), "shard"
    sizes = f"{size(has['nbytes_stored'])} of {size(has['nbytes'])}{ratio_note(has)}"
    return f"{n:,} of {plural(of, what)}, {sizes}"


def ratio_note(has: Mapping[str, Any]) -> str:
    return f" ({ratio(has)} : 1)" if has["nbytes_stored"] and has["dtype"] != "string" else ""


def ratio(has: Mapping[str, Any]) -> str:
    # The items of a text array are handles of fixed size: their ratio would mean nothing.
    if not has["nbytes_stored"] or has["dtype"] == "string":
        return ""
    times = has["nbytes"] / has["nbytes_stored"]
    return f"{times:.1f}" if times < 100 else f"{times:,.0f}"


def print_group(name: str, has: Mapping[str, Any]) -> None:
    out = console()
    out.print(styled((name, "bold")))
    out.print(styled((kind_of_store(has), "dim")), soft_wrap=True)
    dims = [(d, n) for d, n in has["dimensions"].items() if d in ("variants", "samples", "contigs")]
    if dims:
        counts = "  ·  ".join(plural(n, d.removesuffix("s")) for d, n in dims)
        out.print(styled((counts, "bold green")), soft_wrap=True)
    if has["arrays"]:
        out.print()
        print_table(out, fitting_table(has, out))
    for one in has["unreadable"]:
        out.print(styled((f"{one['name']}: {one['reason']}", "red")), soft_wrap=True)
    out.print()
    out.print(styled(total_words(has)), soft_wrap=True)


def total_words(has: Mapping[str, Any]) -> str:
    words = plural(len(has["arrays"]), "array")
    if has["nchunks_initialized"] is None:
        return f"{words} of {size(has['nbytes'])} in memory; what is stored was not counted"
    words += f", {plural(has['nchunks_initialized'], 'chunk')}, {size(has['nbytes_stored'])}"
    return f"{words} stored for {size(has['nbytes'])} in memory"


def kind_of_store(has: Mapping[str, Any]) -> str:
    attrs = has["attrs"]
    version, source = attrs.get("vcf_zarr_version"), attrs.get("source")
    stores = {"ZipStore": "zip archive", "DirectoryStore": "directory", "MemoryStore": "memory"}
    parts = [
        f"VCF Zarr {version}" if version else "",
        f"Zarr format {has['zarr_format']}",
        stores.get(has["store"], ""),
        f"by {source}" if source else "",
    ]
    return "  ·  ".join(p for p in parts if p)


def fitting_table(has: Mapping[str, Any], out: Console | plain_text.Console) -> Any:
    """The arrays, without the columns for which the terminal is too narrow."""
    if isinstance(out, plain_text.Console):
        return array_table(has, ("share",), spaced=False)
    boundless = out.options.update(width=10_000)
    for count in range(len(EXPENDABLE) + 1):
        made = array_table(has, EXPENDABLE[:count], spaced=True)
        if out.measure(made, options=boundless).maximum <= out.width:
            break
    return made


def array_table(has: Mapping[str, Any], left_out: Iterable[str], *, spaced: bool) -> Any:
    columns = (
        "array",
        "shape",
        "chunks",
        "type",
        "dimensions",
        "codec",
        "stored",
        "ratio",
        "share",
    )
    kept = [c for c in columns if c not in left_out]
    made = table(*kept, right=("shape", "chunks", "stored", "ratio"))
    styles = {
        "array": "cyan",
        "type": "green",
        "dimensions": "dim",
        "codec": "dim",
        "share": "blue",
    }
    for column, name in zip(made.columns, kept, strict=True):
        column.style = styles.get(name, "")
    largest = max(a["nbytes_stored"] or 0 for a in has["arrays"])
    previous = ""
    for one in sorted(has["arrays"], key=lambda a: (family(a["name"]), a["name"])):
        if spaced and previous and family(one["name"]) != previous:
            made.add_row()
        previous = family(one["name"])
        cells = {
            "array": one["name"],
            "shape": dimensions(one["shape"]),
            "chunks": dimensions(one["chunks"]),
            "type": one["dtype"],
            "dimensions": ", ".join(d or "·" for d in one["dims"] or ()),
            "codec": ", ".join(one["codec"]),
            "stored": "" if one["nbytes_stored"] is None else size(one["nbytes_stored"]),
            "ratio": ratio(one),
            "share": bar(one["nbytes_stored"] or 0, largest),
        }
        made.add_row(*(cells[c] for c in kept))
    return made


def family(name: str) -> str:
    """The arrays of calls, of variants, and the others stand together."""
    return next((p for p in ("call_", "variant_") if name.startswith(p)), "other")


def bar(part: int, largest: int) -> str:
    """A bar in eighths of a letter."""
    eighths = round(8 * BAR_WIDTH * part / largest) if largest else 0
    rest = eighths % 8
    return "█" * (eighths // 8) + ("▏▎▍▌▋▊▉"[rest - 1] if rest else "")
