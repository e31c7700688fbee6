# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`vczc cat`: the values of an array on standard output, never more than a part in memory."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import click
import numpy as np

import vczc
from vczc.cli.rows import text_lines, tsv_lines
from vczc.cli.sources import open_array, path_argument
from vczc.cli.terminal import one_line, progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

# What is decoded at one time, where a row of chunks is larger than that.
PART_NBYTES = 64 << 20

# How much a text is taken to need, when parts are sized.
TEXT_NBYTES = 64


def parse_rows(
    _ctx: click.Context, _param: click.Parameter, value: str | None
) -> slice | int | None:
    """`A:B`, `A:`, `:B` or `A`, counted as Python counts."""
    if value is None:
        return None
    first, colon, last = value.partition(":")
    try:
        begin, end = (int(text) if text else None for text in (first, last))
    except ValueError:
        msg = f"{value!r} is not A:B with whole numbers"
        raise click.BadParameter(msg) from None
    if colon:
        return slice(begin, end)
    if begin is None:
        msg = "no row is named"
        raise click.BadParameter(msg)
    return begin


def parse_block(
    _ctx: click.Context, _param: click.Parameter, value: str | None
) -> tuple[int, ...] | None:
    """`I,J,…`: the place of a chunk in the grid; axes that are left out are taken in full."""
    try:
        return None if value is None else tuple(int(text) for text in value.split(","))
    except ValueError:
        msg = f"{value!r} is not I,J with whole numbers"
        raise click.BadParameter(msg) from None


@dataclass(frozen=True)
class Wanted:
    """What is to be printed: how many rows of which shape and type, and the rows themselves."""

    nrows: int
    inner: tuple[int, ...]
    dtype: np.dtype[Any]
    parts: Callable[[], Iterator[NDArray[Any]]]
    is_scalar: bool = False


@click.command(name="cat", short_help="Write values of ARRAY.")
@path_argument
@click.argument("arrays", metavar="ARRAY...", nargs=-1, required=True)
@click.option(
    "--block", metavar="I,J", callback=parse_block, help="One chunk, by its place in the grid."
)
@click.option(
    "--rows", metavar="A:B", callback=parse_rows, help="Items A to B - 1 of the first axis."
)
@click.option(
    "--region",
    "regions",
    metavar="R",
    multiple=True,
    help="Variants that overlap it: contig, contig:pos, contig:from-to, several with commas, or "
    "the path of a BED or tab-separated file. May be given more than once.",
)
@click.option(
    "--samples", metavar="A,B", help="Samples by id, with commas between them; after ^ all others."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "tsv", "npy", "arrow"]),
    default="text",
    show_default=True,
    help="What is written.",
)
def command(
    path: str,
    arrays: tuple[str, ...],
    block: tuple[int, ...] | None,
    rows: slice | int | None,
    regions: tuple[str, ...],
    samples: str | None,
    form: str,
) -> None:
    """Write values of ARRAY: all, a block, rows, or what overlaps a region.

    Several arrays that have the variants axis stand side by side. text and tsv are one line for
    each item of the first axis. npy is NumPy's own format; texts get a fixed width there, which
    takes one reading more. arrow is an Arrow IPC stream and needs pyarrow.
    """
    region = regions[0] if len(regions) == 1 else list(regions) or None
    if sum(x is not None for x in (block, rows, region)) > 1:
        raise click.UsageError("--block, --rows and --region exclude one another")  # noqa: EM101
    if block is not None and samples is not None:
        raise click.UsageError("--block and --samples exclude one another")  # noqa: EM101
    if form in ("npy", "arrow") and sys.stdout.isatty():
        msg = f"{form} is binary: send it to a file or a pipe"
        raise click.UsageError(msg)
    if len(arrays) > 1:
        if block is not None or form == "npy":
            msg = f"{'npy' if block is None else '--block'} takes one array, not {len(arrays)}"
            raise click.UsageError(msg)
        write_several(path, arrays, rows, region, samples, form)
        return
    opened = open_array(path, arrays[0])
    chosen = None if rows is None else chosen_rows(opened, rows)
    columns = None if samples is None else sample_indexes(path, opened, samples)
    out = sys.stdout.buffer
    if form == "arrow":
        if block is not None:
            raise click.UsageError("arrow takes --rows or --region, not --block")  # noqa: EM101
        write_arrow(out, path, [opened], rows=chosen, region=region, samples=columns)
        return
    if region is not None:
        wanted = of_region(path, opened, region, columns)
    elif block is not None:
        wanted = of_box(opened, block_box(opened, block), None)
    else:
        wanted = of_box(opened, () if chosen is None else (chosen,), columns)
    write = write_npy if form == "npy" else write_lines
    write(out, wanted, form, show_bar=not sys.stdout.isatty())


def sample_indexes(path: str, array: vczc.Array, text: str) -> NDArray[np.integer[Any]]:
    """The places of the samples that `--samples` names."""
    if sample_axis(array) is None:
        msg = f"{array.name} has no samples axis"
        raise click.UsageError(msg)
    ids = text.removeprefix("^").split(",")
    root = vczc.open_group(path)
    try:
        return np.asarray(vczc.samples(root, ids, complement=text.startswith("^")))
    except (ValueError, LookupError) as err:
        raise click.UsageError(one_line(err)) from None


def sample_axis(array: vczc.Array) -> int | None:
    return array.dims.index("samples") if array.dims and "samples" in array.dims else None


def chosen_rows(array: vczc.Array, rows: slice | int) -> slice:
    """The rows, counted from 0. One that is not there is an error; a range may overrun."""
    if not array.shape:
        raise click.UsageError("a scalar has no rows")  # noqa: EM101
    n = array.shape[0]
    if isinstance(rows, int):
        if not -n <= rows < n:
            msg = f"there is no row {rows}: {array.name} has {n}, counted from 0"
            raise click.UsageError(msg)
        return slice(rows % n, rows % n + 1)
    if rows.start is not None and rows.stop is not None:
        begin, end = (i + n if i < 0 else i for i in (rows.start, rows.stop))
        if begin > end:
            msg = f"--rows {rows.start}:{rows.stop} ends before it begins"
            raise click.UsageError(msg)
    return slice(*rows.indices(n))


def block_box(array: vczc.Array, block: tuple[int, ...]) -> tuple[slice, ...]:
    """The items of one block, or of several where trailing axes are left out."""
    grid = array.blocks.shape
    if len(block) > len(grid):
        msg = f"{array.name} has {len(grid)} axes, the block {len(block)}"
        raise click.UsageError(msg)
    box = []
    for place, count, length, size in zip(block, grid, array.chunks, array.shape, strict=False):
        if not -count <= place < count:
            msg = f"block {','.join(map(str, block))} is outside the grid of {grid}"
            raise click.UsageError(msg)
        begin = place % count * length
        box.append(slice(*slice(begin, begin + length).indices(size)))
    return tuple(box)


def of_box(
    array: vczc.Array, box: tuple[slice, ...], columns: NDArray[np.integer[Any]] | None
) -> Wanted:
    """Rows of a box, of all samples or of the columns named."""
    if not array.shape:
        return Wanted(1, (), array.dtype, lambda: iter([scalar_row(array)]), is_scalar=True)
    box += tuple(slice(0, n) for n in array.shape[len(box) :])
    axis = sample_axis(array) if columns is not None else None
    index: list[Any] = list(box)
    if axis is not None:
        index[axis] = columns
    counts = [max(0, i.stop - i.start) if isinstance(i, slice) else len(i) for i in index]
    if axis == 0:  # such as sample_id itself: few and small
        picked = array.oindex[tuple(index)]
        return Wanted(counts[0], tuple(counts[1:]), array.dtype, lambda: iter([picked]))

    def parts() -> Iterator[NDArray[Any]]:
        for rows in row_steps(array, index[0], counts[1:]):
            here = (rows, *index[1:])
            yield array.read(here) if axis is None else array.oindex[here]

    return Wanted(counts[0], tuple(counts[1:]), array.dtype, parts)


def scalar_row(array: vczc.Array) -> NDArray[Any]:
    """The item of a 0-d array as an axis of one."""
    row = np.empty(1, array.dtype)
    row[0] = array[()]
    return row


def row_steps(array: vczc.Array, rows: slice, inner: Iterable[int]) -> Iterator[slice]:
    """Rows in steps that end where chunks end and that fit PART_NBYTES."""
    itemsize = TEXT_NBYTES if array.dtype.kind == "T" else array.itemsize
    row_nbytes = max(1, itemsize * int(np.prod(list(inner), dtype=object)))
    most = max(1, PART_NBYTES // row_nbytes)
    begin, length = rows.start, max(1, array.chunks[0])
    while begin < rows.stop:
        end = min(rows.stop, (begin // length + 1) * length, begin + most)
        yield slice(begin, end)
        begin = end


def of_region(
    path: str, array: vczc.Array, region: str | list[str], columns: NDArray[np.integer[Any]] | None
) -> Wanted:
    """Rows of the variants that overlap a region."""
    root = vczc.open_group(path)
    name = name_of(array)
    if not array.dims or array.dims[0] != "variants":
        msg = f"{array.name} has no variants axis"
        raise click.UsageError(msg)
    try:
        nrows = sum(s.stop - s.start for s in vczc.region(root, region))
    except (ValueError, LookupError) as err:
        raise click.UsageError(one_line(err)) from None
    inner = list(array.shape[1:])
    axis = sample_axis(array)
    if columns is not None and axis is not None:
        inner[axis - 1] = len(columns)

    def parts() -> Iterator[NDArray[Any]]:
        for part in vczc.stream(root, [name], region=region, samples=columns):
            yield part[name]

    return Wanted(nrows, tuple(inner), array.dtype, parts)


def write_lines(out: BinaryIO, wanted: Wanted, form: str, *, show_bar: bool) -> None:
    make = tsv_lines if form == "tsv" else text_lines
    with progress("writing", wanted.nrows, show=show_bar) as advance:
        for rows in wanted.parts():
            out.writelines(make(rows))
            advance(len(rows))
    out.flush()


def name_of(array: vczc.Array) -> str:
    return array.path.strip("/")


def write_several(
    path: str,
    names: Iterable[str],
    rows: slice | int | None,
    region: str | list[str] | None,
    samples: str | None,
    form: str,
) -> None:
    """Arrays side by side, one line for each variant."""
    arrays = [open_array(path, name) for name in dict.fromkeys(names)]
    chosen = None if rows is None else chosen_rows(arrays[0], rows)
    columns = None
    if samples is not None:
        with_samples = next((a for a in arrays if sample_axis(a) is not None), arrays[0])
        columns = sample_indexes(path, with_samples, samples)
    out = sys.stdout.buffer
    if form == "arrow":
        write_arrow(out, path, arrays, rows=chosen, region=region, samples=columns)
        return
    root = vczc.open_group(path)
    make, gap = (tsv_lines, b"\t") if form == "tsv" else (text_lines, b"  ")
    try:
        parts = vczc.stream(
            root, [name_of(a) for a in arrays], region=region, variants=chosen, samples=columns
        )
    except (ValueError, LookupError) as err:
        raise click.UsageError(one_line(err)) from None
    with parts, progress("writing", len(parts), show=not sys.stdout.isatty()) as advance:
        for part in parts:
            lines = [b"".join(make(values)).split(b"\n")[:-1] for values in part.values()]
            out.writelines(gap.join(line) + b"\n" for line in zip(*lines, strict=True))
            advance(1)
    out.flush()


def write_npy(out: BinaryIO, wanted: Wanted, _form: str, *, show_bar: bool) -> None:
    dtype = wanted.dtype
    if dtype.kind in "TO":
        letter = "U" if dtype.kind == "T" else "S"
        dtype = np.dtype(f"{letter}{longest_item(wanted, show_bar=show_bar)}")
    header = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": () if wanted.is_scalar else (wanted.nrows, *wanted.inner),
    }
    np.lib.format.write_array_header_1_0(out, header)
    with progress("writing", wanted.nrows, show=show_bar) as advance:
        for rows in wanted.parts():
            out.write(np.ascontiguousarray(rows, dtype).tobytes())
            advance(len(rows))
    out.flush()


def longest_item(wanted: Wanted, *, show_bar: bool) -> int:
    """The width of the `U` or `S` type that holds every item, 1 at least."""
    longest = 1
    with progress("measuring", wanted.nrows, show=show_bar) as advance:
        for rows in wanted.parts():
            longest = max(longest, max(map(len, rows.reshape(-1).tolist()), default=1))
            advance(len(rows))
    return longest


def write_arrow(
    out: BinaryIO,
    path: str,
    arrays: Iterable[vczc.Array],
    *,
    rows: slice | None,
    region: str | list[str] | None,
    samples: NDArray[np.integer[Any]] | None,
) -> None:
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        msg = "--format arrow needs pyarrow, which is not installed: pip install pyarrow"
        raise click.UsageError(msg) from None
    root = vczc.open_group(path)
    names = [name_of(a) for a in arrays]
    try:
        table = vczc.to_arrow(root, names, region=region, variants=rows, samples=samples)
    except (ValueError, LookupError) as err:
        raise click.UsageError(one_line(err)) from None
    reader = pa.RecordBatchReader.from_stream(table)
    with pa.ipc.new_stream(out, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    out.flush()
