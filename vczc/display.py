# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""How arrays and groups are shown: tables and trees, as text and as HTML for notebooks.

HTML takes its colours from where it is shown, so that it fits light and dark themes; whatever
comes from a store is escaped.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vczc.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vczc.array import Array
    from vczc.group import Group

_MAX_TEXT = 160  # characters of one value, where many are shown
_MAX_DEPTH = 32  # of a tree
_MAX_NODES = 10_000  # of a tree, or rows of a table: links may make more paths than can be walked

_STYLE = """<style>
.vczc { font-size: 0.92em; line-height: 1.4; }
.vczc table { border-collapse: collapse; margin: 0.3em 0; }
.vczc th, .vczc td { text-align: left; vertical-align: top; padding: 0.15em 0.9em 0.15em 0;
  border: none; border-bottom: 1px solid rgba(128, 128, 128, 0.25); background: none;
  color: inherit; }
.vczc th { font-weight: 600; opacity: 0.75; white-space: nowrap; }
.vczc td { font-family: ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.vczc caption { caption-side: top; text-align: left; padding: 0.2em 0; font-weight: 600;
  color: inherit; }
.vczc .children td:not(:last-child) { white-space: nowrap; overflow-wrap: normal; }
.vczc summary { cursor: pointer; opacity: 0.75; }
</style>"""


@dataclass(frozen=True, slots=True)
class Info:
    """A table of two columns, what and value."""

    title: str
    rows: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        width = max(len(what) for what, _ in self.rows)
        return "\n".join(f"{what:<{width}} : {value}" for what, value in self.rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = [row for row in self.rows if row[0] != "Name"]  # which is the caption
        cells = "".join(_html_row("th", "td", row) for row in shown)
        caption = f"<caption>{html.escape(self.title)}</caption>"
        return f'{_STYLE}<div class="vczc"><table>{caption}<tbody>{cells}</tbody></table></div>'


class Tree(str):
    """Text that shows itself as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


def array_info(array: Array) -> Info:
    rows = [
        ("Name", array.name),
        ("Type", "Array"),
        ("Zarr format", str(array.zarr_format)),
        ("Store", repr(array.store)),
        ("Shape", str(array.shape)),
        ("Dimensions", _dims(array) or "not named"),
        ("Data type", _dtype(array)),
        ("Fill value", _value(array.fill_value)),
        ("Chunk shape", str(array.chunks)),
    ]
    if array.shards is not None:
        rows.append(("Shard shape", str(array.shards)))
    rows.append(("Order", array.order))
    rows.append(("Compressor", codec_text(array.compressor)))
    if array.filters:
        rows.append(("Filters", ", ".join(codec_text(f) for f in array.filters)))
    rows += _stored(array)
    return Info(array.name, tuple(rows))


def group_info(group: Group) -> Info:
    rows = (
        ("Name", group.name),
        ("Type", "Group"),
        ("Zarr format", str(group.zarr_format)),
        ("Store", repr(group.store)),
        ("Arrays", str(sum(1 for _ in group.array_keys()))),
        ("Groups", str(sum(1 for _ in group.group_keys()))),
        ("Attributes", _clipped(", ".join(group.attrs) or "none")),
    )
    return Info(group.name, rows)


def group_html(group: Group) -> str:
    head = ("Name", "Shape", "Chunks", "Type", "Dimensions")
    rows = "".join(_html_row("td", "td", row) for row in _child_rows(group))
    head_row = _html_row("th", "th", head)
    table = f'<table class="children"><thead>{head_row}</thead><tbody>{rows}</tbody></table>'
    attrs = "".join(
        _html_row("th", "td", (name, _clipped(repr(value)))) for name, value in group.attrs.items()
    )
    if attrs:
        attrs = (
            f"<details><summary>{len(group.attrs)} attributes</summary>"
            f"<table><tbody>{attrs}</tbody></table></details>"
        )
    title = f"<b>Group</b> {html.escape(group.name)} of {html.escape(repr(group.store))}"
    return f'{_STYLE}<div class="vczc"><div>{title}</div>{table}{attrs}</div>'


def tree(group: Group) -> Tree:
    len(group)  # what cannot be listed at all is an error; what lies below it is told in its place
    lines = [group.name]
    for line in _branches(group, "", _MAX_DEPTH):
        if len(lines) > _MAX_NODES:
            lines.append(f"… (only the first {_MAX_NODES:,} groups and arrays are shown)")
            break
        lines.append(line)
    return Tree("\n".join(lines))


def codec_text(codec: Any) -> str:
    """A codec of either format on one line: its name and settings."""
    if codec is None:
        return "none"
    if not isinstance(codec, dict):
        return _clipped(str(codec))
    settings = codec.get("configuration")
    if not isinstance(settings, dict):
        settings = {k: v for k, v in codec.items() if k not in ("id", "name", "configuration")}
    name = codec.get("id", codec.get("name", "?"))
    return _clipped(f"{name}({', '.join(f'{k}={v!r}' for k, v in settings.items())})")


def nbytes_text(n: int) -> str:
    """A number of bytes as people read it."""
    size = float(n)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{n} B" if unit == "B" else f"{size:.1f} {unit}"


def _stored(array: Array) -> Iterator[tuple[str, str]]:
    yield "Bytes", nbytes_text(array.nbytes)
    try:
        nchunks, nbytes = array._count_stored()
    except Error as err:
        yield "Chunks", f"{array.nchunks} (not counted: {_clipped(str(err))})"
        return
    yield "Chunks", f"{nchunks} stored of {array.nchunks}"
    ratio = f" ({array.nbytes / nbytes:.1f} : 1)" if nbytes else ""
    yield "Bytes stored", nbytes_text(nbytes) + ratio


def _dims(array: Array) -> str:
    if array.dims is None:
        return ""
    return ", ".join("-" if name is None else name for name in array.dims)


def _dtype(array: Array) -> str:
    if array._item_dtype is None:
        return "text" if array._is_text else "bytes"
    return str(array.dtype)


def _value(value: Any) -> str:
    is_time = isinstance(value, (np.datetime64, np.timedelta64)) and not np.isnat(value)
    if is_time and np.datetime_data(value.dtype)[0] == "generic":  # NumPy has no text for it
        return f"{int(value.view(np.int64))} of no unit"
    if isinstance(value, (str, bytes, np.void)) and (n := _length(value)) > _MAX_TEXT:
        start = value.tobytes()[:_MAX_TEXT] if isinstance(value, np.void) else value[:_MAX_TEXT]
        return f"{_clipped(repr(start))} ({n:,} in all)"
    return repr(value)


def _length(value: str | bytes | np.void) -> int:
    return value.nbytes if isinstance(value, np.void) else len(value)


def _child_rows(group: Group) -> Iterator[tuple[str, ...]]:
    from vczc.group import Group  # which shows itself by this module

    for name, child in _children(group):
        if isinstance(child, str):
            yield name, "", "", "", child
        elif isinstance(child, Group):
            yield f"{name}/", "", "", "group", ""
        else:
            yield name, str(child.shape), str(child.chunks), _dtype(child), _dims(child)


def _branches(group: Group, indent: str, depth: int) -> Iterator[str]:
    from vczc.group import Group

    children = list(_children(group))
    lines = {name: _leaf(c) for name, c in children if not isinstance(c, (str, Group))}
    widths = [max(map(len, column)) for column in zip(*lines.values(), strict=True)]
    name_width = max(map(len, lines), default=0)
    for i, (name, child) in enumerate(children):
        is_last = i == len(children) - 1
        stem = f"{indent}{'└── ' if is_last else '├── '}{name}"
        if isinstance(child, str):
            yield f"{stem} ({child})"
        elif isinstance(child, Group):
            yield stem if depth else f"{stem} (groups deeper than this are not shown)"
            if depth:
                yield from _branches(child, indent + ("    " if is_last else "│   "), depth - 1)
        else:
            shape, dtype, dims = lines[name]
            stem += " " * (name_width - len(name))
            line = f"{stem}  {shape:>{widths[0]}}  {dtype:<{widths[1]}}  {dims}"
            yield line.rstrip()


def _leaf(array: Array) -> tuple[str, str, str]:
    """Shape, type and dimensions of an array in a tree."""
    shape = " × ".join(f"{n:,}" for n in array.shape) or "scalar"
    return shape, _dtype(array), _dims(array)


def _children(group: Group) -> Iterator[tuple[str, Array | Group | str]]:
    """Each child, or why it cannot be read."""
    try:
        names = list(group)
    except Error as err:
        yield "*", f"not listed: {_clipped(str(err))}"
        return
    for i, name in enumerate(names):
        if i >= _MAX_NODES:
            yield "*", f"only the first {_MAX_NODES:,} of {len(names):,} are shown"
            return
        try:
            yield name, group[name]
        except Error as err:
            yield name, f"not read: {_clipped(str(err))}"


def _html_row(first: str, other: str, cells: tuple[str, ...]) -> str:
    tags = [first] + [other] * (len(cells) - 1)
    row = "".join(f"<{t}>{html.escape(c)}</{t}>" for t, c in zip(tags, cells, strict=True))
    return f"<tr>{row}</tr>"


def _clipped(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
