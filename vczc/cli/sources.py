# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What the commands share about PATH and ARRAY."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import vczc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Node = vczc.Group | vczc.Array | vczc.Error

path_argument = click.argument("path")


# Groups inside one another that are looked into; thousands would end in a RecursionError.
MAX_DEPTH = 64

# Groups and arrays that are looked into: a VCF has hundreds of fields, thirty small folders that
# hold links to one another have more paths than can ever be walked, and these take seconds.
MAX_NODES = 10_000

# That a command may be given: more than any machine has processors, and than a pool takes.
MAX_THREADS = 4096

# What a command ends with that found what does not open: damage, or what vczc does not read.
DAMAGED, CANNOT = 1, 2


def open_array(path: str, name: str) -> vczc.Array:
    """The array; a group of that name is a wrong usage, and the message says what to do."""
    node = vczc.open(path, path=name.strip("/"))
    if isinstance(node, vczc.Array):
        return node
    msg = f"{name} is a group: `vczc tree` shows the arrays in it"
    raise click.UsageError(msg)


class Walk:
    """The groups and arrays of a store, with a bound, and what was found not to open."""

    def __init__(self) -> None:
        self.status = 0  # of the command
        self._left = MAX_NODES

    def found(self, err: vczc.Error) -> None:
        """Take note of what cannot be read."""
        is_damage = not isinstance(err, vczc.UnsupportedError)
        if self.status != DAMAGED:
            self.status = DAMAGED if is_damage else CANNOT

    def children(self, group: vczc.Group) -> Iterator[tuple[str, Node]]:
        """What is in a group, by name; in place of what does not open, the reason."""
        try:
            names = sorted(group)
        except vczc.Error as err:
            self.found(err)
            yield "*", err
            return
        is_deepest = group.path.count("/") >= MAX_DEPTH
        for name in names:
            if self._left <= 0:
                if self._left == 0:
                    yield name, self._refuse(f"more than {MAX_NODES:,} groups and arrays")
                self._left = -1
                return
            self._left -= 1
            try:
                child = group[name]
            except vczc.Error as err:
                self.found(err)
                yield name, err
                continue
            if is_deepest and isinstance(child, vczc.Group):
                yield name, self._refuse(f"groups more than {MAX_DEPTH} deep")
            else:
                yield name, child

    def _refuse(self, what: str) -> vczc.Error:
        err = vczc.UnsupportedError(f"{what} are not looked into")
        self.found(err)
        return err

    def nodes(self, node: vczc.Group | vczc.Array) -> Iterator[tuple[str, Node]]:
        """A node and all below it, each with its path from there, which of itself is "/"."""
        yield "/", node
        if isinstance(node, vczc.Group):
            yield from self._below(node, "")

    def _below(self, group: vczc.Group, prefix: str) -> Iterator[tuple[str, Node]]:
        for name, child in self.children(group):
            yield prefix + name, child
            if isinstance(child, vczc.Group):
                yield from self._below(child, f"{prefix}{name}/")


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
