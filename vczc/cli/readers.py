# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The readers that `vczc bench` compares, behind one small interface."""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any, ClassVar

import vczc

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

Box = tuple[slice, ...]


class Reader:
    """A store, opened by one package. `zarr_format` is that of the store."""

    name: ClassVar[str]
    module: ClassVar[str]

    def __init__(self, path: Path, threads: int, zarr_format: int) -> None:
        self.path = path
        self.threads = threads
        self.zarr_format = zarr_format
        self.package: Any = importlib.import_module(self.module)
        self.arrays: dict[str, Any] = {}
        self.prepare()

    def prepare(self) -> None:
        """Open the store, where the package has such a thing."""

    def version(self) -> str:
        return importlib.metadata.version(self.module)

    def before_turn(self) -> None:
        """Settings of the whole process, which another reader may have changed."""

    def array(self, name: str) -> Any:
        if name not in self.arrays:
            self.arrays[name] = self.open(name)
        return self.arrays[name]

    def open(self, name: str) -> Any:
        raise NotImplementedError

    def read(self, name: str, box: Box) -> NDArray[Any]:
        """A box of the array; all slices have both ends."""
        raise NotImplementedError


class Vczc(Reader):
    name = module = "vczc"

    def prepare(self) -> None:
        self.root = vczc.open_group(self.path)

    def version(self) -> str:
        return vczc.__version__

    def before_turn(self) -> None:
        vczc.set_threads(self.threads)

    def open(self, name: str) -> vczc.Array:
        node = self.root[name]
        assert isinstance(node, vczc.Array)
        return node

    def read(self, name: str, box: Box) -> NDArray[Any]:
        return self.array(name).read(box)  # type: ignore[no-any-return]


class ZarrPython(Reader):
    name, module = "zarr-python", "zarr"
    pipeline = "zarr.core.codec_pipeline.BatchedCodecPipeline"

    def prepare(self) -> None:
        self.settings = {
            "codec_pipeline.path": self.pipeline,
            "threading.max_workers": self.threads,
        }
        storage = importlib.import_module("zarr.storage")
        zipped = not self.path.is_dir()
        store = storage.ZipStore(self.path, mode="r") if zipped else str(self.path)
        with self.package.config.set(self.settings):
            self.root = self.package.open(store, mode="r")

    def open(self, name: str) -> Any:
        with self.package.config.set(self.settings):
            return self.root[name]

    def read(self, name: str, box: Box) -> NDArray[Any]:
        return self.array(name)[box]  # type: ignore[no-any-return]


class Zarrs(ZarrPython):
    """zarr-python with the codecs of zarrs; in an archive it would fall back to Python's."""

    name, module = "zarr-python + zarrs", "zarrs"
    pipeline = "zarrs.ZarrsCodecPipeline"

    def prepare(self) -> None:
        if not self.path.is_dir():
            msg = "reads no archives"
            raise NotImplementedError(msg)
        self.package = importlib.import_module("zarr")
        super().prepare()
        self.settings["codec_pipeline.strict"] = True


class TensorStore(Reader):
    name = module = "tensorstore"

    def open(self, name: str) -> Any:
        path = str(self.path.resolve())
        kvstore: dict[str, Any] = {"driver": "file", "path": f"{path}/{name}/"}
        if not self.path.is_dir():
            file = {"driver": "file", "path": path}
            kvstore = {"driver": "zip", "base": file, "path": f"{name}/"}
            kvstore["cache_pool"] = "cache_pool#directory"  # the archive's, not its chunks
        limit = {"limit": self.threads}
        spec = {
            "driver": "zarr3" if self.zarr_format == 3 else "zarr",
            "kvstore": kvstore,
            "context": {
                "cache_pool": {"total_bytes_limit": 0},
                "cache_pool#directory": {"total_bytes_limit": 1 << 30},
                "data_copy_concurrency": limit,
                "file_io_concurrency": limit,
            },
        }
        return self.package.open(spec, read=True).result()

    def read(self, name: str, box: Box) -> NDArray[Any]:
        return self.array(name)[box].read().result()  # type: ignore[no-any-return]


class Zarrista(Reader):
    name = module = "zarrista"

    def prepare(self) -> None:
        stores = importlib.import_module("zarrista.store")
        path = self.path.resolve()
        if path.is_dir():
            self.store = stores.FilesystemStore(str(path))
        else:
            self.store = stores.ZipStore(stores.FilesystemStore(str(path.parent)), path.name)

    def open(self, name: str) -> Any:
        return self.package.Array.open(self.store, "/" + name)

    def read(self, name: str, box: Box) -> NDArray[Any]:
        part = self.array(name).retrieve_array_subset(box, concurrent_target=self.threads)
        return part.to_numpy()  # type: ignore[no-any-return]


READERS: tuple[type[Reader], ...] = (Vczc, ZarrPython, Zarrs, TensorStore, Zarrista)


def installed(
    path: Path,
    threads: int,
    zarr_format: int,
    classes: Sequence[type[Reader]] = READERS,
) -> tuple[list[Reader], dict[str, str], dict[str, str]]:
    """The readers that open the store; why others do not; and the versions of all."""
    readers: list[Reader] = []
    left_out: dict[str, str] = {}
    versions: dict[str, str] = {}
    for cls in classes:
        try:
            readers.append(cls(path, threads, zarr_format))
        except ModuleNotFoundError:
            left_out[cls.name] = "not installed"
        except Exception as err:  # whatever another package raises, the others go on
            left_out[cls.name] = f"{type(err).__name__}: {err}"
        else:
            versions[cls.name] = readers[-1].version()
    return readers, left_out, versions


def same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two results have the same shape and the same bits, or the same text."""
    if one.shape != other.shape:
        return False
    if one.dtype.kind in "TO" or other.dtype.kind in "TO":
        return [str(x) for x in one.reshape(-1)] == [str(x) for x in other.reshape(-1)]
    return one.dtype == other.dtype and one.tobytes() == other.tobytes()
