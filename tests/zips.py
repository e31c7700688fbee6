# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Zip archives as other writers make them, byte by byte: what zipfile has no setting for."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

STORED, DEFLATED, BZIP2, LZMA, ZSTD = 0, 8, 12, 14, 93
UTF8, DESCRIPTOR, ENCRYPTED = 1 << 11, 1 << 3, 1 << 0
ALL_ONES_16, ALL_ONES_32 = 0xFFFF, 0xFFFFFFFF


@dataclass(frozen=True)
class Entry:
    """One file. What is None is worked out."""

    name: bytes
    raw: bytes
    method: int = STORED
    stored: bytes | None = None  # as compressed, for methods that are not known here
    flags: int = 0
    descriptor: str = ""  # "signed" or "bare": sizes stand behind the data
    zip64: bool = False  # sizes and place in extra fields
    local_extra: bytes = b""
    central_extra: bytes = b""
    comment: bytes = b""
    crc: int | None = None
    raw_nbytes: int | None = None
    stored_nbytes: int | None = None

    def data(self) -> bytes:
        if self.stored is not None:
            return self.stored
        if self.method == DEFLATED:
            deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
            return deflate.compress(self.raw) + deflate.flush()
        return self.raw


def extra_field(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def archive(
    entries: list[Entry],
    *,
    comment: bytes = b"",
    before: bytes = b"",
    is_shifted: bool = False,
    zip64: bool = False,
    after_locator: bytes = b"",
    count: int | None = None,
) -> bytes:
    """`before` comes first; where the archive is shifted, places do not know of it. `zip64` forces
    the records at the end, `count` is what they say of the number of entries."""
    out = bytearray(before)
    shift = len(before) if is_shifted else 0
    directory = bytearray()
    for entry in entries:
        place = len(out) - shift
        out += _local(entry)
        directory += _central(entry, place)
    start = len(out) - shift
    out += directory
    n = len(entries) if count is None else count
    if zip64:
        record = len(out) - shift
        fields = (45, 45, 0, 0, n, n, len(directory), start)
        out += b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, *fields)
        out += b"PK\6\7" + struct.pack("<IQI", 0, record, 1)
        out += after_locator
        n, start, nbytes = ALL_ONES_16, ALL_ONES_32, ALL_ONES_32
    else:
        nbytes = len(directory)
    out += b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, n & 0xFFFF, n & 0xFFFF, nbytes, start, 0)
    out[-2:] = struct.pack("<H", len(comment))
    return bytes(out + comment)


def _sizes(entry: Entry) -> tuple[int, int, int]:
    crc = zlib.crc32(entry.raw) if entry.crc is None else entry.crc
    stored = len(entry.data()) if entry.stored_nbytes is None else entry.stored_nbytes
    raw = len(entry.raw) if entry.raw_nbytes is None else entry.raw_nbytes
    return crc, stored, raw


def _local(entry: Entry) -> bytes:
    crc, stored, raw = _sizes(entry)
    flags = entry.flags | (DESCRIPTOR if entry.descriptor else 0)
    extra = entry.local_extra
    fields = (0, 0, 0) if entry.descriptor else (crc, stored, raw)
    if entry.zip64:
        sizes = (0, 0) if entry.descriptor else (raw, stored)
        extra = extra_field(1, struct.pack("<QQ", *sizes)) + extra
        fields = (fields[0], ALL_ONES_32, ALL_ONES_32)
    out = b"PK\3\4" + struct.pack("<HHHHH", 45, flags, entry.method, 0, 0x21)
    out += struct.pack("<IIIHH", *fields, len(entry.name), len(extra))
    out += entry.name + extra + entry.data()
    if entry.descriptor:
        out += b"PK\7\x08" if entry.descriptor == "signed" else b""
        out += struct.pack("<IQQ" if entry.zip64 else "<III", crc, stored, raw)
    return out


def _central(entry: Entry, place: int) -> bytes:
    crc, stored, raw = _sizes(entry)
    flags = entry.flags | (DESCRIPTOR if entry.descriptor else 0)
    extra = entry.central_extra
    if entry.zip64:
        extra = extra_field(1, struct.pack("<QQQ", raw, stored, place)) + extra
        stored = raw = place = ALL_ONES_32
    out = b"PK\1\2" + struct.pack("<HHHHHH", 45, 45, flags, entry.method, 0, 0x21)
    lengths = (len(entry.name), len(extra), len(entry.comment))
    out += struct.pack("<IIIHHHHHII", crc, stored, raw, *lengths, 0, 0, 0, place)
    return out + entry.name + extra + entry.comment


def entries_of(content: dict[str, bytes], **settings: object) -> list[Entry]:
    """All of a store alike; names that are not ASCII in UTF-8."""
    entries = []
    for key, value in content.items():
        flags = 0 if key.isascii() else UTF8
        entries.append(Entry(key.encode(), value, flags=flags, **settings))  # type: ignore[arg-type]
    return entries
