# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""An array: what it is, and the ways to read it."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias, cast

import numpy as np

from vczc import _core, metadata, selection
from vczc.blocks import Blocks
from vczc.counts import count_of
from vczc.errors import UnsupportedError
from vczc.reading import read_box, read_orthogonal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vczc import display
    from vczc.metadata import ArrayMetadata, Attributes
    from vczc.stores import Store

Strings: TypeAlias = Literal["numpy", "object", "bytes"]
Missing: TypeAlias = Literal["fill", "error"]

# Rows are read ahead of iteration in steps of about this size and no more chunks along the first
# axis (but one at least): whoever wants the first row need not wait for very many small ones.
_ITERATION_NBYTES = 1 << 20
_ITERATION_NCHUNKS = 1 << 10


class _Options(NamedTuple):
    strings: Strings
    missing: Missing
    max_chunk_bytes: int | None


class Options(_Options):
    """How the arrays of a tree are read."""

    __slots__ = ()

    def __new__(
        cls,
        strings: Strings = "numpy",
        missing: Missing = "fill",
        max_chunk_bytes: int | None = None,
    ) -> Self:
        if strings not in ("numpy", "object", "bytes"):
            msg = f"strings is 'numpy', 'object' or 'bytes', not {strings!r}"
            raise ValueError(msg)
        if missing not in ("fill", "error"):
            msg = f"missing is 'fill' or 'error', not {missing!r}"
            raise ValueError(msg)
        if max_chunk_bytes is not None:
            max_chunk_bytes = count_of(
                max_chunk_bytes, 1, 1 << 63, "max_chunk_bytes", "a number of bytes"
            )
        return super().__new__(cls, strings, missing, max_chunk_bytes)


class Array(_core.Array):
    """An array of a store, made by `vczc.open` or by indexing a group.

    `shape` and `chunks` count items, `cdata_shape` counts the chunks along each of the `ndim` axes.
    `array[…]` takes ints, slices and `...`, `array.oindex[…]` integers and masks, axis by axis.
    """

    _store: Store
    _options: Options

    def __new__(cls, store: Store, path: str, options: Options) -> Self:
        try:
            self = cls._on(store._handle, path, options)
        except UnsupportedError as refusal:
            from vczc import fallback

            return cast("Self", fallback.open_array(store, path, options, refusal))
        self._store = store
        self._options = options
        return self

    @classmethod
    def _on(cls, handle: _core.Store, path: str, options: Options) -> Self:
        return super().__new__(
            cls,
            handle,
            path,
            missing_is_error=options.missing == "error",
            max_chunk_nbytes=options.max_chunk_bytes or 0,
            text_as=options.strings,
        )

    # What it is

    @property
    def store(self) -> Store:
        return self._store

    @property
    def name(self) -> str:
        """The path with a slash before it."""
        return "/" + self.path

    @property
    def basename(self) -> str:
        return self.path.rpartition("/")[2]

    @cached_property
    def attrs(self) -> Attributes:
        return metadata.Attributes(metadata.parse(self._attributes, self.path, "attributes"))

    @cached_property
    def metadata(self) -> ArrayMetadata:
        """The documents, parsed; here is how items are stored, byte order included."""
        document = metadata.parse(self._document, self.path, "metadata")
        return metadata.ArrayMetadata(self.zarr_format, self.dims, document)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Of results: in native byte order. Text is as `strings` of `vczc.open` says."""
        if self._item_dtype is not None:
            return self._item_dtype
        if not self._is_text or self._text_as == "object":
            return np.dtype(object)
        if self._text_as == "bytes":
            return np.dtype("S")  # each result is as wide as it needs
        return np.dtypes.StringDType()

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """What all items take as an ndarray of `dtype`; 0 where reading tells the width."""
        return self.size * self.itemsize

    @property
    def chunk_size(self) -> tuple[int, ...]:
        """The shape of a full chunk, clipped to the array."""
        return tuple(min(c, n) for c, n in zip(self.chunks, self.shape, strict=True))

    @property
    def fill_value(self) -> Any:
        """What absent chunks hold, or None where the document has null."""
        fill = self._fill
        if fill is None:
            return None
        if self._item_dtype is not None:
            return np.frombuffer(fill, self._item_dtype)[0]
        return fill.decode() if self._is_text else fill

    @property
    def compressor(self) -> Any:
        """As stored; of format 3 the first codec that compresses. None where there is none."""
        return metadata.compressor(self.metadata.document)

    @property
    def filters(self) -> tuple[Any, ...]:
        """As stored; of format 3 the codecs from array to array."""
        return metadata.filters(self.metadata.document)

    @property
    def codecs(self) -> tuple[Any, ...]:
        """As stored, in the order of writing; of format 2 the filters and the compressor."""
        return metadata.codecs(self.metadata.document)

    def nbytes_stored(self) -> int:
        """The bytes that the chunks take in the store, from its index."""
        return self._count_stored()[1]

    @property
    def nchunks_initialized(self) -> int:
        """How many chunks are stored, from the store's index."""
        return self._count_stored()[0]

    # Reading

    @property
    def blocks(self) -> Blocks:
        """The chunks, by their place in the grid."""
        return Blocks(self)

    def __getitem__(self, key: Any) -> Any:
        rows = self._plain_rows(key)
        if rows is not None:
            return rows
        box = selection.basic(key, self.shape)
        result = read_box(self, box)
        if not box.shape and not selection.is_one_item(key):
            return result[()]
        return result

    def read(self, key: Any, out: Any = None, threads: int | None = None) -> Any:
        """The items of a basic selection, in `out` where it is given.

        `out` is an ndarray of the result's shape, of any strides, or a C-contiguous buffer with
        room for it; the result is then a view of it.
        """
        return read_box(self, selection.basic(key, self.shape), out, threads)

    @property
    def oindex(self) -> OIndex:
        """Selections per axis: an int, a slice, integers or a mask each."""
        return OIndex(self)

    def __array__(
        self, dtype: np.dtype[Any] | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        if copy is False:
            msg = "an array that is decoded cannot be had without a copy"
            raise ValueError(msg)
        data = read_box(self, selection.basic(..., self.shape))
        return data if dtype is None else data.astype(dtype, copy=False)

    def __len__(self) -> int:
        if self.ndim == 0:
            msg = "len() of a 0-d array"
            raise TypeError(msg)
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            msg = "iteration over a 0-d array"
            raise TypeError(msg)
        return self._rows()

    def _rows(self) -> Iterator[Any]:
        """Decode whole rows of chunks; what is given does not keep them alive."""
        row_nbytes = max(1, self.itemsize) * math.prod(self.shape[1:])
        chunk = max(1, self.chunks[0])  # 0 is taken of an empty axis
        nchunks = _ITERATION_NBYTES // max(1, row_nbytes * chunk)
        step = chunk * max(1, min(nchunks, _ITERATION_NCHUNKS))
        for start in range(0, self.shape[0], step):
            rows = self[start : start + step]
            for row in rows:
                yield row.copy() if isinstance(row, np.ndarray) else row

    # The rest of a Python object

    def __copy__(self) -> Self:
        return self  # it cannot be changed

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store, self.path, self._options)

    def __repr__(self) -> str:
        return f"<vczc.Array {self.name!r} shape={self.shape} dtype={self.dtype}>"

    @property
    def info(self) -> display.Info:
        """A table of what it is and what it takes."""
        from vczc import display  # which few programs need

        return display.array_info(self)

    def _repr_html_(self) -> str:
        return self.info._repr_html_()


class OIndex:
    """`array.oindex[…]`."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __repr__(self) -> str:
        return f"<vczc.OIndex of {self._array.name!r}: {self._array.shape}>"

    def __getitem__(self, key: Any) -> np.ndarray[Any, Any]:
        return read_orthogonal(self._array, selection.orthogonal(key, self._array.shape))
