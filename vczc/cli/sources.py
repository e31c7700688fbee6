# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What the commands share about PATH and ARRAY."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import vczc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

path_argument = click.argument("path")


# Groups inside one another that are looked into; thousands would end in a RecursionError.
MAX_DEPTH = 64


def open_array(path: str, name: str) -> vczc.Array:
    """The array; a group of that name is a wrong usage, and the message says what to do."""
    node = vczc.open(path, path=name.strip("/"))
    if isinstance(node, vczc.Array):
        return node
    msg = f"{name} is a group: `vczc tree` shows the arrays in it"
    raise click.UsageError(msg)


def children(group: vczc.Group) -> Iterator[tuple[str, vczc.Group | vczc.Array | vczc.Error]]:
    """What is in a group, by name; in place of what does not open, the reason."""
    is_deepest = group.path.count("/") >= MAX_DEPTH
    for name in sorted(group):
        try:
            child = group[name]
        except vczc.Error as err:
            yield name, err
            continue
        if is_deepest and isinstance(child, vczc.Group):
            msg = f"groups more than {MAX_DEPTH} deep are not looked into"
            yield name, vczc.UnsupportedError(msg)
        else:
            yield name, child


def walk_arrays(node: vczc.Group | vczc.Array) -> Iterator[tuple[str, vczc.Array | vczc.Error]]:
    """All arrays of a node and of the groups in it, each with its path from there."""
    if isinstance(node, vczc.Array):
        yield node.path.strip("/") or "/", node
        return
    for name, child in children(node):
        if isinstance(child, vczc.Group):
            for below, array in walk_arrays(child):
                yield f"{name}/{below}", array
        else:
            yield name, child


def codec_words(array: vczc.Array) -> list[str]:
    """The codecs in short, in the order of writing: `vlen-utf8`, `blosc zstd 7 shuffle`."""
    words = [codec_word(codec) for codec in unfolded(array.codecs)]
    return [w for w in words if w] or ["none"]


def unfolded(codecs: Iterable[Any]) -> Iterator[Any]:
    """The codecs, those inside a shard after the codec that makes it."""
    for codec in codecs:
        yield codec
        if codec_name(codec) == "sharding_indexed":
            yield from unfolded(settings(codec).get("codecs") or ())


def codec_name(codec: Any) -> str:
    """The name by which either format calls a codec."""
    if not isinstance(codec, dict):
        return str(codec)
    return str(codec.get("id") or codec.get("name") or "?")


def settings(codec: Any) -> dict[str, Any]:
    if not isinstance(codec, dict):
        return {}
    inside = codec.get("configuration", codec)
    return inside if isinstance(inside, dict) else {}


SHUFFLES = {0: "", 1: "shuffle", 2: "bitshuffle", "noshuffle": "", -1: "auto-shuffle"}


def codec_word(codec: Any) -> str:
    name, has = codec_name(codec), settings(codec)
    if name == "bytes":
        return "big-endian" if has.get("endian") == "big" else ""
    if name == "blosc":
        shuffle = has.get("shuffle", "")
        parts = [name, has.get("cname", ""), has.get("clevel", ""), SHUFFLES.get(shuffle, shuffle)]
        return " ".join(str(p) for p in parts if p != "")
    level = has.get("level")
    return name if level is None else f"{name} {level}"
