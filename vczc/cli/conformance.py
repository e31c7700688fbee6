# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`vczc conformance`: what the community's conformance tests of Zarr ask of an implementation.

They call a command with `--array_path=PATH`, and it prints the elements of the array there in C
order, one a line, each as fill values are written in a metadata document.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from vczc.cli.cat import of_box
from vczc.cli.sources import open_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    import vczc

# Elements that are text at one time.
ITEMS_AT_ONCE = 1 << 16


@click.command(name="conformance", short_help="Print an array as Zarr's conformance tests ask.")
@click.option("--array_path", required=True, metavar="PATH", help="A folder that is an array.")
def command(array_path: str) -> None:
    """Print the elements of an array in C order, one a line, as fill values are written.

    It is for the conformance tests of the Zarr community; `vczc cat` is for people.
    """
    out = sys.stdout.buffer
    for line in element_lines(open_array(array_path, "")):
        out.write(line)
    out.flush()


def element_lines(array: vczc.Array) -> Iterator[bytes]:
    """The lines, many in one piece; no more than a row of chunks is in memory."""
    as_list = has_raw_bits(array)
    for rows in of_box(array, (), None).parts():
        flat = rows.reshape(-1)
        for begin in range(0, len(flat), ITEMS_AT_ONCE):
            tokens = json_tokens(flat[begin : begin + ITEMS_AT_ONCE], raw_as_list=as_list)
            # Half a surrogate pair, which only text of fixed width can hold, is escaped in JSON.
            yield ("\n".join(tokens) + "\n").encode("utf-8", "backslashreplace")


def has_raw_bits(array: vczc.Array) -> bool:
    """Whether the type is `r<bits>` of format 3, whose fill values are lists of bytes."""
    named = array.metadata.document.get("data_type")
    name = named.get("name") if isinstance(named, dict) else named
    return isinstance(name, str) and re.fullmatch(r"r[0-9]+", name) is not None


def json_tokens(values: np.ndarray[Any, Any], *, raw_as_list: bool = False) -> list[str]:
    """Each value in JSON, as a metadata document has it for a fill value."""
    kind = values.dtype.kind
    if kind == "b":
        return ["true" if v else "false" for v in values.tolist()]
    if kind in "iu":
        return list(map(str, values.tolist()))
    if kind == "f":
        return float_tokens(values)
    if kind == "c":
        parts = float_tokens(values.view(f"f{values.dtype.itemsize // 2}"))
        return [f"[{re},{im}]" for re, im in zip(parts[::2], parts[1::2], strict=True)]
    if kind in "mM":
        return list(map(str, values.view(np.int64).tolist()))
    if kind == "V":
        items = [v.tobytes() for v in values]
        return [str(list(v)).replace(" ", "") if raw_as_list else base64_token(v) for v in items]
    return [
        base64_token(v) if isinstance(v, bytes) else json.dumps(v, ensure_ascii=False)
        for v in values.tolist()
    ]


def float_tokens(values: np.ndarray[Any, Any]) -> list[str]:
    """As doubles, which JSON's numbers are; a NaN that is not the usual one by its bits."""
    with np.errstate(invalid="ignore"):  # signalling NaNs, which are replaced below
        tokens = list(map(repr, values.astype(np.float64).tolist()))
    bits = values.view(f"u{values.dtype.itemsize}")
    usual = np.array([np.nan], values.dtype).view(bits.dtype)[0]
    for i in np.flatnonzero(~np.isfinite(values)).tolist():
        if np.isinf(values[i]):
            tokens[i] = '"Infinity"' if values[i] > 0 else '"-Infinity"'
        elif bits[i] == usual:
            tokens[i] = '"NaN"'
        else:
            tokens[i] = f'"0x{int(bits[i]):0{values.dtype.itemsize * 2}x}"'
    return tokens


def base64_token(value: bytes) -> str:
    return f'"{base64.b64encode(value).decode()}"'
