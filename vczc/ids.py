# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The ids that a VCZ names its samples and contigs by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeGuard

import numpy as np

from vczc.array import Array
from vczc.errors import Error
from vczc.group import Group

if TYPE_CHECKING:
    from vczc.selection import Index

Ids: TypeAlias = "str | Iterable[str]"

_MAX_NAMED = 8  # ids, in a message
_MAX_COMPARED = 10_000  # of them with one that is not known


class UnknownIdError(Error, KeyError, ValueError):
    """The header knows no sample or contig of that id."""

    @classmethod
    def of(cls, what: str, wanted: str, known: Iterable[str]) -> Self:
        """What to raise: the message names ids that come close."""
        import difflib

        known = [x for x in known if x]
        prefixed = [x for x in (f"chr{wanted}", wanted.removeprefix("chr")) if x in known]
        close = prefixed or difflib.get_close_matches(wanted, known[:_MAX_COMPARED], n=3)
        if close:
            hint = f"did you mean {' or '.join(map(repr, close))}?"
        elif known:
            dots = ", …" if len(known) > _MAX_NAMED else ""
            hint = f"there are {', '.join(map(repr, known[:_MAX_NAMED]))}{dots}"
        else:
            hint = "there are none"
        return cls(f"there is no {what} {wanted!r}; {hint}")


UnknownIdError.__module__ = "vczc"


def are_several(given: object) -> TypeGuard[Iterable[Any]]:
    """Whether it can be looped over, of whatever type it was declared; a 0-d array cannot."""
    return isinstance(given, Iterable) and not (isinstance(given, np.ndarray) and given.ndim == 0)


def group_of(root: object) -> Group:
    """`root`, which must be a group."""
    if not isinstance(root, Group):
        msg = f"a group, as `vczc.open` gives it, is needed, not {type(root).__name__}"
        raise TypeError(msg)
    return root


def array_of(root: object, name: str) -> Array:
    """The array `name` of a VCZ."""
    node = group_of(root)[name]
    if not isinstance(node, Array):
        msg = f"{node.name!r} is a group, not an array"
        raise ValueError(msg)
    return node


def read_ids(root: Group, name: str) -> list[str]:
    """The ids that the array `name` holds, as `str` whatever the store's texts come back as."""
    ids = array_of(root, name)[...]
    return [as_id(x) for x in ids.ravel().tolist()]


def as_id(value: object) -> str:
    """Bytes too: an id may come out of an array of a store that was opened with them."""
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        msg = f"a str is needed to name a sample or contig, not {type(value).__name__}"
        raise TypeError(msg)
    return str(value)


def one_text(given: object) -> str | None:
    """The text, where `given` is one and not several: also of bytes and of an item of an array."""
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given.item()
    return as_id(given) if isinstance(given, (str, bytes)) else None


def samples(root: Group, ids: Ids, complement: bool = False, ignore_missing: bool = False) -> Index:
    """The indexes of the samples that `ids` name, in the order of `ids`.

    With `complement` those of all other samples, in the order of the store. An id that the store
    does not know is an error, or left out with `ignore_missing`; an id that is given twice is an
    error, as in bcftools. A removed sample, whose id is "", is never found.
    """
    wanted = _ids(ids)
    known = read_ids(root, "sample_id")
    at: dict[str, int] = {}
    for i, name in enumerate(known):
        if name and at.setdefault(name, i) != i:
            msg = f"the store has two samples {name!r}: choose them by index"
            raise ValueError(msg)
    found: dict[str, int] = {}
    for name in wanted:
        if name in found:
            msg = f"the sample {name!r} is named twice"
            raise ValueError(msg)
        if name in at:
            found[name] = at[name]
        elif not ignore_missing:
            error = UnknownIdError.of("sample", name, at)
            raise error
    if complement:
        return np.array([i for name, i in at.items() if name not in found], np.int64)
    return np.array(list(found.values()), np.int64)


def _ids(given: object) -> list[str]:
    one = one_text(given)
    if one is not None:
        return [one]
    if not are_several(given):
        msg = f"samples are chosen by an id, or several in a list, not by {given!r}"
        raise TypeError(msg)
    found = []
    for x in given:
        if (name := one_text(x)) is None:
            msg = f"a sample is named by its id, a str, not by {x!r}: numbers select in `oindex`"
            raise TypeError(msg)
        found.append(name)
    return found


def sample_places(root: Group, wanted: Any) -> Any:
    """What selects samples, as `oindex` takes it: ids become indexes."""
    one = one_text(wanted)
    if one is not None:
        return samples(root, one)
    if isinstance(wanted, slice):
        return wanted
    if not are_several(wanted):
        msg = f"samples are ids, indexes or a mask, not {wanted!r}"
        raise TypeError(msg)
    listed = wanted if isinstance(wanted, np.ndarray) else list(wanted)
    if len(listed) and all(one_text(x) is not None for x in listed):
        return samples(root, listed)
    return listed
