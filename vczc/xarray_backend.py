# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The engine "vczc" of xarray: arrays as lazily indexed variables, as they are stored.

Registered as an entry point of `xarray.backends`. What differs from the engine "zarr" is said in
docs/xarray.md: above all, a fill value does not mask unless it is asked to.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import vczc
from vczc._extras import require

try:
    import xarray as xr
except ModuleNotFoundError:
    require("xarray", "xarray")
    raise
from xarray.backends import (
    AbstractDataStore,
    BackendArray,
    BackendEntrypoint,
    StoreBackendEntrypoint,
)
from xarray.core import indexing

_DIMENSIONS = "_ARRAY_DIMENSIONS"  # the attribute that names them in format 2
_FILL = "_FillValue"
_OF_VCZ = "vcf_zarr_version"  # an attribute that each VCF Zarr has
_NAMES = (".vcz", ".vcz.zip", ".zarr.zip")
_ANOTHERS_NAME = ".zarr"  # the engine "zarr" takes it
_ROOT_ATTRIBUTES = (".zattrs", "zarr.json")
_ZIP_MAGIC = b"PK\3\4"


class VczcArray(BackendArray):
    """An array as xarray indexes it: nothing is read before it is asked for."""

    __slots__ = ("_array", "dtype", "shape")

    def __init__(self, array: vczc.Array) -> None:
        self.shape = array.shape
        self.dtype = array.dtype
        if array.dtype.kind == "T":
            # `str` objects, and a type that says so: all versions of xarray write them, and its
            # views of them may be shared among threads.
            array = vczc.open_array(array.store, path=array.path, strings="object")
            self.dtype = np.dtype(object, metadata={"element_type": str})
        self._array = array

    def __getitem__(self, key: indexing.ExplicitIndexer) -> np.ndarray[Any, Any]:
        # xarray cannot turn a slice round that is empty.
        items = [_forward(k, n) for k, n in zip(key.tuple, self.shape, strict=True)]
        result: np.ndarray[Any, Any] = indexing.explicit_indexing_adapter(
            type(key)(tuple(items)), self.shape, indexing.IndexingSupport.OUTER, self._read
        )
        return result

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> np.ndarray[Any, Any]:
        return await asyncio.to_thread(self.__getitem__, key)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        if any(isinstance(k, np.ndarray) for k in key):
            return self._array.oindex[key]
        result: np.ndarray[Any, Any] = self._array.read(key)
        return result


def _forward(item: Any, n: int) -> Any:
    if isinstance(item, slice) and not range(n)[item]:
        return slice(0, 0, 1)
    return item


class VczcDataStore(AbstractDataStore):
    """A group as xarray reads one: variables that are not opened before they are decoded."""

    def __init__(
        self, group: vczc.Group, dropped: frozenset[str], mask: bool | Mapping[str, bool]
    ) -> None:
        self._group = group
        self._dropped = dropped
        self._mask = mask

    def get_attrs(self) -> dict[str, Any]:
        return _without_nczarr(self._group.attrs)

    def get_variables(self) -> dict[str, xr.Variable]:
        names = [name for name in self._group.array_keys() if name not in self._dropped]
        return {name: self._open(name) for name in names}

    def _open(self, name: str) -> xr.Variable:
        try:
            array = self._group[name]
            assert isinstance(array, vczc.Array)
            dims = _dims_of(array)
            attrs = self._attrs_of(array, name)
        except Exception as err:
            err.add_note(f"to open the others: drop_variables=[{name!r}]")
            raise
        chunks = tuple([max(1, n) for n in array.chunks])  # they may be 0 along an empty axis
        encoding: dict[str, Any] = {
            "chunks": chunks,
            "preferred_chunks": dict(zip(dims, chunks, strict=True)),
        }
        if array.shards is not None:
            encoding["shards"] = array.shards
        data = indexing.LazilyIndexedArray(VczcArray(array))
        return xr.Variable(dims, data, attrs, encoding)

    def _attrs_of(self, array: vczc.Array, name: str) -> dict[str, Any]:
        attrs = dict(array.attrs)
        if array.metadata.zarr_format == 2:
            attrs = _without_nczarr(attrs)
            attrs.pop(_DIMENSIONS, None)
            mask = self._mask.get(name, True) if isinstance(self._mask, Mapping) else self._mask
            if mask and array.fill_value is not None:
                attrs[_FILL] = array.fill_value
        elif _FILL in attrs:
            attrs[_FILL] = _decoded_fill(attrs[_FILL], array.dtype)
        return attrs


def _decoded_fill(value: Any, dtype: np.dtype[Any]) -> Any:
    """An attribute of format 3, as xarray encodes it: often as text."""
    from xarray.backends.zarr import FillValueCoder

    if dtype.kind == "T":
        return value
    try:
        return FillValueCoder.decode(value, dtype)
    except (ArithmeticError, TypeError, ValueError):
        if isinstance(value, (str, list)):
            raise
        return value  # a number as it is, which is what other programs write for floats


def _without_nczarr(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """As the engine "zarr" shows them."""
    return {name: value for name, value in attrs.items() if not name.lower().startswith("_nc")}


def _dims_of(array: vczc.Array) -> tuple[str, ...]:
    if array.ndim == 0:
        return ()
    named = tuple([name for name in array.dims or () if name is not None])
    if len(named) == array.ndim:
        return named
    where = f"its attribute {_DIMENSIONS!r}"
    if array.metadata.zarr_format == 3:
        where = "'dimension_names' of its metadata"
    msg = f"{array.name!r} has {array.ndim} dimensions, and xarray needs their names in {where}"
    raise KeyError(msg)


class VczcBackendEntrypoint(BackendEntrypoint):
    """`xarray.open_dataset(source, engine="vczc")`."""

    description = "Open VCF Zarr and other Zarr, in directories and zip archives, by vczc"
    url = "https://github.com/sgkit-dev/vcf-zarr-spec"
    supports_groups: ClassVar[bool] = True
    open_dataset_parameters: ClassVar[tuple[str, ...]] = (
        "filename_or_obj",
        "drop_variables",
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "use_cftime",
        "decode_timedelta",
        "group",
        "missing",
        "verify",
        "max_chunk_bytes",
        "storage_options",
    )

    def guess_can_open(self, filename_or_obj: object) -> bool:
        """Whether to be asked where no engine is named: stores of vczc, names that no other engine
        takes, and what is a VCF Zarr, unless its name is that of another engine."""
        try:
            if isinstance(filename_or_obj, (str, os.PathLike)):
                return _is_ours(os.fspath(filename_or_obj))
        except Exception:
            return False
        return isinstance(filename_or_obj, (vczc.DirectoryStore, vczc.ZipStore, vczc.MemoryStore))

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        mask_and_scale: bool | Mapping[str, bool] = False,
        decode_times: Any = True,
        concat_characters: Any = False,
        decode_coords: Any = True,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        missing: Any = "fill",
        verify: bool = False,
        max_chunk_bytes: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> xr.Dataset:
        """The arrays of a group. What vczc.open takes is as there; the rest as xarray says.

        Values come as they are stored: `mask_and_scale` and `concat_characters` are off.
        """
        with _opened(
            filename_or_obj,
            group,
            missing=missing,
            verify=verify,
            max_chunk_bytes=max_chunk_bytes,
            storage_options=storage_options,
        ) as (opened, close):
            ds = _decoded(
                opened,
                drop_variables=drop_variables,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )
        ds.set_close(close)
        return ds

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        group: str | None = None,
        missing: Any = "fill",
        verify: bool = False,
        max_chunk_bytes: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **decoders: Any,
    ) -> dict[str, xr.Dataset]:
        """A dataset for each group at and below `group`, by its path from there.

        They share one store, which the first of them closes.
        """
        with _opened(
            filename_or_obj,
            group,
            missing=missing,
            verify=verify,
            max_chunk_bytes=max_chunk_bytes,
            storage_options=storage_options,
        ) as (top, close):
            found = {path: _decoded(node, **decoders) for path, node in _groups(top, "/")}
        found["/"].set_close(close)
        return found

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        """The groups as a tree."""
        groups = self.open_groups_as_dict(filename_or_obj, **options)
        tree = xr.DataTree.from_dict(groups)
        tree.set_close(groups["/"].close)
        return tree


@contextlib.contextmanager
def _opened(
    source: Any, group: str | None, **options: Any
) -> Iterator[tuple[vczc.Group, Callable[[], None] | None]]:
    """The group, and what closes its store: None of the caller's own. A failure closes it here."""
    top = vczc.open_group(_expanded(source), path=group or "", **options)
    close = top.store.close if top.store is not source else None
    try:
        yield top, close
    except BaseException:
        if close is not None:
            close()
        raise


def _decoded(
    group: vczc.Group,
    *,
    drop_variables: str | Iterable[str] | None = None,
    mask_and_scale: bool | Mapping[str, bool] = False,
    concat_characters: Any = False,
    **decoders: Any,
) -> xr.Dataset:
    dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
    store = VczcDataStore(group, frozenset(dropped), mask_and_scale)
    return StoreBackendEntrypoint().open_dataset(
        store,
        mask_and_scale=mask_and_scale,
        concat_characters=concat_characters,
        drop_variables=dropped,
        **decoders,
    )


def _groups(group: vczc.Group, path: str) -> Iterable[tuple[str, vczc.Group]]:
    yield path, group
    for name, child in group.groups():
        yield from _groups(child, f"{path.rstrip('/')}/{name}")


def _expanded(source: Any) -> Any:
    """A path as xarray takes it for other engines: `~` is a home."""
    is_path = isinstance(source, (str, os.PathLike))
    return os.path.expanduser(source) if is_path else source  # noqa: PTH111


def _is_ours(path: str) -> bool:
    name = path.rstrip("/").lower()
    if name.endswith(_NAMES):
        return True
    if name.endswith(_ANOTHERS_NAME) or "://" in name:
        return False
    found = Path(path).expanduser()
    if found.is_dir():
        if not any((found / document).is_file() for document in _ROOT_ATTRIBUTES):
            return False
    else:
        with found.open("rb") as file:
            if file.read(len(_ZIP_MAGIC)) != _ZIP_MAGIC:
                return False
    with vczc.open_group(found).store as store:
        return _OF_VCZ in store.fetch_attrs()
