# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Stores behind a URL, through obstore: objects under a prefix, or one zip archive.

Requests are what costs here. Consolidated metadata serves where it is there, a chunk of a shard is
asked for by its range, and of an archive the central directory is read once.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import threading
import zipfile
import zlib
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast
from urllib.parse import urlsplit, urlunsplit

from vczc import _callbacks
from vczc._extras import require
from vczc.errors import StoreError, StoreNotFoundError, UnsupportedError
from vczc.stores import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType

SCHEMES = ("https://", "http://", "s3://", "gs://", "az://")

_UNLISTED = ("https://", "http://")

_ARCHIVE_STARTS = (b"PK\3\4", b"PK\5\6")
_LOCAL_HEADER_NBYTES = 30
_LOCAL_SLACK_NBYTES = (
    64  # by which a local header's extra field may be longer than the central one's
)
_ENCRYPTED = 1
_MAX_INFLATED = 1 << 28  # of an entry: a few bytes may claim to hold very many
_MAX_UNASKED = 1 << 26  # of a value whose size nobody has looked at yet
_MAX_DIRECTORY = 1 << 28  # of an archive: millions of entries
_END_NBYTES = 22 + 0xFFFF  # in which an archive's end record lies, with its comment

# Answers that say nothing of what is there.
_ANSWER = re.compile(r"status code: (\d{3}[\w ]*)")
_REFUSED = re.compile(r"status code: (401|403|407|408|429|5\d\d)\b")


_REFUSALS = ("UnauthenticatedError", "PermissionDeniedError")

_LOOK_SECONDS = 0.5
_T = TypeVar("_T")
_Answer = TypeVar("_Answer")


class Reader(Protocol):
    """What `_callbacks.open_ranges` takes. KeyError means "not there", and nothing else does."""

    def fetch_range(self, key: str, offset: int, nbytes: int | None) -> Any:
        """Exactly those bytes of `key`, or all from `offset` on.

        MemoryError where all are very many: libvczc then asks for the size, compares it with what
        the metadata justify, and asks for so many bytes.
        """

    def fetch_size(self, key: str) -> int: ...

    def keys_below(self, prefix: str) -> Iterable[str]: ...

    def names_in(self, folder: str) -> Iterable[str]:
        """The names directly under `folder` ("" or "a/b/")."""


class RemoteStore(Store):
    """What lies behind a URL. `storage_options` are passed to `obstore.store.from_url`."""

    def __init__(self, url: str, storage_options: Mapping[str, Any] | None = None) -> None:
        require("obstore", "remote")
        self.url = url
        self.storage_options = dict(storage_options or {})
        found = _open_archive(url, self.storage_options)
        reader: Reader
        if isinstance(found, _Archive):
            reader = found
        else:
            is_listed = not url.lower().startswith(_UNLISTED)
            reader = _Objects(_connect(url, self.storage_options), is_listed, found)
        self._attach(_callbacks.open_ranges(reader, url))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.url, self.storage_options)


def _obstore() -> ModuleType:
    return require("obstore", "remote")


def _connect(url: str, options: Mapping[str, Any]) -> Any:
    require("obstore.store", "remote")
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    if url.lower().startswith("http://"):  # whoever writes that means it
        client = {"allow_http": True, **(options.get("client_options") or {})}
        options = {**options, "client_options": client}
    try:
        return from_url(url, **options)
    except (BaseError, ValueError, TypeError) as err:
        msg = f"{url}: {_first_line(err)}"
        raise StoreError(msg) from err


def _first_line(err: BaseException) -> str:
    """obstore's messages go on with its own insides, and come late to the server's answer."""
    line = str(err).partition("\n")[0]
    answer = _ANSWER.search(line)
    return f"the server answers {answer[1].strip()}: {line}" if answer else line


# ---- Objects under a prefix ----


@contextlib.contextmanager
def _asking(key: str) -> Iterator[None]:
    """What obstore raises, as `Reader` has it."""
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError:
        raise KeyError(key) from None
    except BaseError as err:
        raise OSError(_first_line(err)) from err


class _Helper:
    """A thread that makes the main thread's requests, one after another."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        threading.Thread(target=self._run, name="vczc-requests", daemon=True).start()

    def _run(self) -> None:
        while (job := self.jobs.get()) is not None:
            job()
            del job  # which holds what was answered


_helper: _Helper | None = None  # the main thread's alone
_asking_pid: int | None = None  # the process that made the first request


def _check_process() -> None:
    """obstore's threads are not in a forked child: it would wait for ever."""
    global _asking_pid
    pid = os.getpid()
    if _asking_pid is None:
        _asking_pid = pid
    if _asking_pid != pid:
        msg = (
            "this process was forked from one that had made requests, and obstore makes no more "
            "here: start processes by spawn or forkserver, or fork before the first request"
        )
        raise StoreError(msg)


def _interruptibly(call: Callable[[], _T]) -> _T:
    """What the call gives. obstore notices no Ctrl-C while it waits; the main thread does here."""
    global _helper
    _check_process()
    if threading.current_thread() is not threading.main_thread():
        return call()
    outcome: SimpleQueue[tuple[_T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcome.put((call(), None))
        except BaseException as err:
            outcome.put((None, err))

    try:
        if _helper is None:
            _helper = _Helper()
        helper = _helper
    except RuntimeError:  # no thread starts while the interpreter ends
        return call()
    helper.jobs.put(run)
    try:
        given, err = _wait(outcome)
    except BaseException:
        helper.jobs.put(None)  # it is still waiting for its answer: the next request has another
        _helper = None
        raise
    if err is not None:
        raise err
    return cast("_T", given)


def _wait(outcome: SimpleQueue[_Answer]) -> _Answer:
    while True:
        with contextlib.suppress(Empty):  # a wait without an end hears no Ctrl-C on Windows
            return outcome.get(timeout=_LOOK_SECONDS)


class _Objects:
    def __init__(self, store: Any, is_listed: bool, refusal: str | None) -> None:
        self._store = store
        self._is_listed = is_listed
        self._refusal = refusal  # of the object that the URL names
        self._obstore = _obstore()

    def fetch_range(self, key: str, offset: int, nbytes: int | None) -> Any:
        try:
            with _asking(key):
                return _interruptibly(lambda: self._get(key, offset, nbytes))
        except KeyError:
            # The last document that can make the root a group or array.
            if key == ".zgroup" and self._refusal is not None:
                raise OSError(self._refusal) from None
            raise

    def _get(self, key: str, offset: int, nbytes: int | None) -> Any:
        if nbytes == 0:
            return b""
        if nbytes is not None and (offset or nbytes <= _MAX_UNASKED):
            return self._obstore.get_range(self._store, key, start=offset, length=nbytes)
        found = self._obstore.get(self._store, key)  # without ranges, which not all servers have
        size = found.meta["size"]
        if nbytes is None and size > _MAX_UNASKED:
            msg = f"{key} has {size} bytes"
            raise MemoryError(msg)
        if nbytes not in (None, size):
            return self._obstore.get_range(self._store, key, start=offset, length=nbytes)
        return memoryview(found.bytes())[offset:]

    def fetch_size(self, key: str) -> int:
        with _asking(key):
            return int(_interruptibly(lambda: self._obstore.head(self._store, key))["size"])

    def _check_listed(self) -> None:
        """Few HTTP servers list anything, and those that do not are asked again and again."""
        if not self._is_listed:
            msg = "nothing is listed over HTTP; consolidated metadata says what there is"
            raise UnsupportedError(msg)

    def keys_below(self, prefix: str) -> Iterator[str]:
        self._check_listed()
        pages = iter(self._obstore.list(self._store, prefix.rpartition("/")[0] or None))
        while (page := _interruptibly(lambda: next(pages, None))) is not None:
            for found in page:
                if found["path"].startswith(prefix):
                    yield found["path"]

    def names_in(self, folder: str) -> list[str]:
        self._check_listed()
        where = folder.rstrip("/") or None
        found = _interruptibly(lambda: self._obstore.list_with_delimiter(self._store, where))
        paths = [*found["common_prefixes"], *(item["path"] for item in found["objects"])]
        return [path.rstrip("/").rpartition("/")[2] for path in paths]


# ---- A zip archive ----


def _open_archive(url: str, options: Mapping[str, Any]) -> _Archive | str | None:
    """The archive that the URL is of; else None, or why nobody knows what is there."""
    try:
        parts = urlsplit(url)
    except ValueError as err:
        msg = f"{url!r} is no URL: {err}"
        raise StoreError(msg) from err
    folder, _, name = parts.path.rstrip("/").rpartition("/")
    if not name:
        return None
    parent = _connect(urlunsplit(parts._replace(path=folder)), options)
    from obstore.exceptions import BaseError

    get_range = _obstore().get_range
    try:
        start = bytes(_interruptibly(lambda: get_range(parent, name, start=0, length=4)))
    except FileNotFoundError:
        return None
    except BaseError as err:
        # An empty object, no answer for a folder, or a server that knows no ranges.
        reason = _first_line(err)
        if _REFUSED.search(reason) or type(err).__name__ in _REFUSALS:
            return f"{reason}; and no Zarr group or array is below"
        _check_no_archive(parent, name, url)
        return None
    if start in _ARCHIVE_STARTS or _ends_as_archive(parent, name):
        return _Archive(parent, name, url)
    return None


def _ends_as_archive(parent: Any, name: str) -> bool:
    """Whether there is an archive's end record: programs that unpack themselves begin otherwise."""
    from obstore.exceptions import BaseError

    def read_end() -> bytes:
        size = int(_obstore().head(parent, name)["size"])
        length = min(size, _END_NBYTES)
        return bytes(_obstore().get_range(parent, name, start=size - length, length=length))

    try:
        end = _interruptibly(read_end)
    except (FileNotFoundError, BaseError):
        return False
    try:
        return zipfile.is_zipfile(io.BytesIO(end))
    except ValueError:
        return True  # Python 3.14 looks for the directory, which lies before what was read here


def _check_no_archive(parent: Any, name: str, url: str) -> None:
    """Refuse an archive that is there, and of which no range is given."""
    from obstore.exceptions import BaseError

    try:
        pieces = _interruptibly(lambda: iter(_obstore().get(parent, name).stream(min_chunk_size=4)))
        start = bytes(_interruptibly(lambda: next(pieces, b"")))[:4]
    except (FileNotFoundError, BaseError):
        return
    if start in _ARCHIVE_STARTS:
        msg = f"{url}: the server gives no ranges, which an archive is read by: open a local copy"
        raise StoreError(msg)


class _RangeFile(io.RawIOBase):
    """An object as a file, of which zipfile reads the central directory."""

    def __init__(self, get: Callable[[int, int], memoryview], nbytes: int) -> None:
        self._get = get
        self._nbytes = nbytes
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._nbytes}[whence]
        if start + offset < 0:
            msg = "a place before the beginning"
            raise OSError(msg)
        self._at = start + offset
        return self._at

    def read(self, n: int | None = -1) -> bytes:
        left = max(0, self._nbytes - self._at)
        n = left if n is None or n < 0 else min(n, left)
        if n > _MAX_DIRECTORY:
            msg = f"a central directory of {n} bytes"
            raise ValueError(msg)
        data = bytes(self._get(self._at, n)) if n else b""
        self._at += n
        return data


class _Archive:
    """Entries that are stored are read by ranges; others are inflated whole."""

    def __init__(self, store: Any, name: str, url: str) -> None:
        self._store = store
        self._name = name
        self._obstore = _obstore()
        self._starts: dict[str, int] = {}  # of the data of entries whose local header was seen
        self._lock = threading.Lock()
        try:
            with zipfile.ZipFile(_RangeFile(self._get, self._fetch_size())) as archive:
                self._entries = {
                    entry.filename.replace("\\", "/"): entry
                    for entry in archive.infolist()
                    if "\0" not in entry.orig_filename  # zipfile cuts the name there
                }
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as err:
            msg = f"{url}: {str(err) or type(err).__name__}"
            raise StoreError(msg) from err
        self._entries = {
            key: entry
            for key, entry in self._entries.items()
            if not key.endswith("/") and not stat.S_ISDIR(entry.external_attr >> 16)
        }
        self._strip_sole_folder()

    def _fetch_size(self) -> int:
        with _asking(self._name):
            return int(_interruptibly(lambda: self._obstore.head(self._store, self._name))["size"])

    def _strip_sole_folder(self) -> None:
        """Where all lies in one folder at the top, the root does."""
        tops = {
            key.partition("/")[0]
            for key in self._entries
            if not key.startswith("__MACOSX/") and not key.rpartition("/")[2].startswith("._")
        }
        if len(tops) == 1 and (top := tops.pop() + "/") and top[:-1] not in self._entries:
            self._entries = {
                key.removeprefix(top): entry
                for key, entry in self._entries.items()
                if key.startswith(top)
            }

    def fetch_size(self, key: str) -> int:
        return self._entries[key].file_size

    def keys_below(self, prefix: str) -> list[str]:
        return [key for key in self._entries if key.startswith(prefix)]

    def names_in(self, folder: str) -> set[str]:
        n = len(folder)
        return {key[n:].partition("/")[0] for key in self._entries if key.startswith(folder)}

    def fetch_range(self, key: str, offset: int, nbytes: int | None) -> Any:
        entry = self._entries[key]
        if entry.flag_bits & _ENCRYPTED:
            msg = f"{key} is encrypted"
            raise UnsupportedError(msg)
        if nbytes is None and entry.file_size > _MAX_UNASKED:
            msg = f"{key} has {entry.file_size} bytes"
            raise MemoryError(msg)
        if entry.compress_type == zipfile.ZIP_STORED:
            wanted = entry.file_size - offset if nbytes is None else nbytes
            return self._read(key, entry, offset, wanted)
        if entry.compress_type == zipfile.ZIP_DEFLATED:
            whole = self._inflate(key, entry)
            return memoryview(whole)[offset : None if nbytes is None else offset + nbytes]
        msg = f"{key} is compressed by method {entry.compress_type}, which is not read"
        raise UnsupportedError(msg)

    def _inflate(self, key: str, entry: zipfile.ZipInfo) -> bytes:
        if entry.file_size > _MAX_INFLATED:
            msg = f"{key} is deflated, and with {entry.file_size} bytes too large to be read so"
            raise UnsupportedError(msg)
        stored = self._read(key, entry, 0, entry.compress_size)
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            whole = inflater.decompress(stored, entry.file_size + 1)
        except zlib.error as err:
            msg = f"{key}: {err}"
            raise StoreError(msg) from err
        if len(whole) != entry.file_size or zlib.crc32(whole) != entry.CRC:
            msg = f"{key} does not inflate to what the archive says"
            raise StoreError(msg)
        return whole

    def _read(self, key: str, entry: zipfile.ZipInfo, offset: int, nbytes: int) -> Any:
        """Bytes of the entry as they lie in the archive; with them its header, the first time."""
        if not 0 <= offset <= offset + nbytes <= entry.compress_size:
            msg = f"{key} has {entry.compress_size} bytes"
            raise StoreError(msg)
        if nbytes == 0:
            return b""
        start = self._starts.get(key)
        if start is None:
            return self._read_with_header(key, entry, offset, nbytes)
        return self._get(start + offset, nbytes)

    def _read_with_header(self, key: str, entry: zipfile.ZipInfo, offset: int, nbytes: int) -> Any:
        guess = len(entry.orig_filename.encode()) + len(entry.extra) + _LOCAL_SLACK_NBYTES
        near = offset == 0
        header = self._get(
            entry.header_offset,
            _LOCAL_HEADER_NBYTES + (guess + nbytes if near else 0),
            or_less=True,
        )
        if len(header) < _LOCAL_HEADER_NBYTES or bytes(header[:4]) != b"PK\3\4":
            msg = f"{key} has no local header where the archive says: it was changed, or damaged"
            raise StoreError(msg)
        lengths = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        skip = _LOCAL_HEADER_NBYTES + lengths
        with self._lock:
            self._starts[key] = entry.header_offset + skip
        if near and len(header) >= skip + nbytes:
            return header[skip : skip + nbytes]
        return self._get(entry.header_offset + skip + offset, nbytes)

    def _get(self, start: int, nbytes: int, *, or_less: bool = False) -> memoryview:
        with _asking(self._name):
            get_range = self._obstore.get_range
            got = memoryview(
                _interruptibly(
                    lambda: get_range(self._store, self._name, start=start, length=nbytes)
                )
            )
        if len(got) != nbytes and not or_less:
            msg = f"{self._name} ends before byte {start + nbytes}: it was changed, or damaged"
            raise StoreError(msg)
        return got


def open_url(url: str, storage_options: Mapping[str, Any] | None) -> RemoteStore:
    """The store behind a URL; StoreNotFoundError where nothing is."""
    try:
        return RemoteStore(url, storage_options)
    except FileNotFoundError as err:
        raise StoreNotFoundError(_first_line(err)) from err
