# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""A group: a mapping from names to arrays and groups."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vczc import _core, metadata
from vczc.array import Array, Options
from vczc.errors import Error, MetadataError, NodeNotFoundError, UnsupportedError
from vczc.metadata import Attributes
from vczc.stores import node_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vczc import display
    from vczc.stores import Store

_MAX_NAMES = 8  # of children, in a message
_MIN_WORD = 3  # letters; two of them are in many names


class Group(Mapping[str, "Array | Group"]):
    """A group of a store, made by `vczc.open` or by indexing a group."""

    def __init__(self, store: Store, path: str, options: Options) -> None:
        self._node = _core.Node(store._handle, path)
        self._store = store
        self._options = options
        self._path = path
        if self._node.kind != _core.NODE_GROUP:
            msg = f"{self.name!r} is an array, not a group"
            raise NodeNotFoundError(msg)

    @property
    def store(self) -> Store:
        return self._store

    @property
    def path(self) -> str:
        return self._path

    @property
    def name(self) -> str:
        """The path with a slash before it."""
        return "/" + self.path

    @property
    def basename(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def zarr_format(self) -> int:
        return self._node.zarr_format

    @cached_property
    def attrs(self) -> Attributes:
        return Attributes(metadata.parse(self._node.attributes, self.path, "attributes"))

    # The mapping

    def __getitem__(self, name: str) -> Array | Group:
        return open_node(self._store, self._child_path(name), self._options)

    def __contains__(self, name: object) -> bool:
        """Whether there is a node, were it one that cannot be read."""
        if not isinstance(name, str):
            return False
        try:
            _core.Node(self._store._handle, self._child_path(name))
        except NodeNotFoundError:
            return False
        except (MetadataError, UnsupportedError):
            return True
        return True

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self._node.children()])

    def __len__(self) -> int:
        return len(self._node.children())

    # Two groups are equal if they are the same one: nobody expects a comparison to read the data.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def array_keys(self) -> Iterator[str]:
        return iter([name for name, kind in self._node.children() if kind == _core.NODE_ARRAY])

    def group_keys(self) -> Iterator[str]:
        return iter([name for name, kind in self._node.children() if kind == _core.NODE_GROUP])

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """(name, array) of each child that is one."""
        for name in self.array_keys():
            yield name, Array(self._store, self._child_path(name), self._options)

    def groups(self) -> Iterator[tuple[str, Group]]:
        """(name, group) of each child that is one."""
        for name in self.group_keys():
            yield name, Group(self._store, self._child_path(name), self._options)

    def _child_path(self, name: str) -> str:
        path = node_path(name)
        if not path:
            msg = f"{name!r} is no name of a group or array"
            raise NodeNotFoundError(msg)
        return f"{self.path}/{path}" if self.path else path

    # The rest of a Python object

    def tree(self) -> display.Tree:
        """The groups and arrays below, as text that draws a tree."""
        from vczc import display

        return display.tree(self)

    @property
    def info(self) -> display.Info:
        """A table of what it is and what it holds."""
        from vczc import display

        return display.group_info(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return f"<vczc.Group {self.name!r} of {self._store!r}>"

    def _repr_html_(self) -> str:
        from vczc import display

        return display.group_html(self)

    def __copy__(self) -> Group:
        return self  # it cannot be changed

    def __deepcopy__(self, memo: dict[int, Any]) -> Group:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store, self.path, self._options)


def open_node(store: Store, path: str, options: Options) -> Array | Group:
    """The array or group at a path, which most often is an array."""
    try:
        if not path:
            return _open_root(store, options)
        try:
            return Array(store, path, options)
        except NodeNotFoundError:
            return Group(store, path, options)
    except NodeNotFoundError as err:
        msg = f"{err}{_known_names(store, path)}"
        raise NodeNotFoundError(msg) from None


def _open_root(store: Store, options: Options) -> Array | Group:
    if _core.Node(store._handle, "").kind == _core.NODE_ARRAY:
        return Array(store, "", options)
    return Group(store, "", options)


def _known_names(store: Store, path: str) -> str:
    """What the message says of names that are there."""
    import difflib

    parent, _, wanted = path.rpartition("/")
    try:
        children = [name for name, _ in _core.Node(store._handle, parent).children()]
    except Error:
        return ""
    if not children or not path:
        return ""
    word = _bare(wanted)
    close = [name for name in children if _bare(name) == word]
    if not close:
        by_case = {name.casefold(): name for name in children}
        found = difflib.get_close_matches(wanted.casefold(), by_case, n=3)
        close = [by_case[name] for name in found]
    if not close and len(word) >= _MIN_WORD:
        close = [name for name in children if word in _bare(name)][:3]
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    names = ", ".join(repr(name) for name in children[:_MAX_NAMES])
    return f"; there are {names}{', …' if len(children) > _MAX_NAMES else ''}"


def _bare(name: str) -> str:
    """What is asked for in short: `call_DP` and `variant_DP` are both DP, in any case."""
    bare = name.casefold().removeprefix("call_").removeprefix("variant_")
    return "genotype" if bare == "gt" else bare
