# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""VCF's missing and fill values, told apart for every data type.

VCF Zarr: integers -1 and -2, NaN with a payload of 1 or 2, text "." and "".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

# The bits of the first signalling NaN, by the size of an item; the fill value is the next one.
_NAN_BITS = {2: 0x7C00, 4: 0x7F800000, 8: 0x7FF0000000000000}


def is_missing(values: npt.ArrayLike) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where VCF says that a value is not known (`.`).

    Ask before floats are cast: from float32 to float64 the bits that tell missing, fill and NaN
    apart move, and neither `is_missing` nor `is_fill` then finds any.
    """
    return _equals(values, 1, ".")


def is_fill(values: npt.ArrayLike) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where there is no value: what makes vectors of different lengths equally long.

    As with `is_missing`, ask before floats are cast.
    """
    return _equals(values, 2, "")


def _equals(values: npt.ArrayLike, number: int, text: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    is_mapping = isinstance(values, Mapping)  # groups: NumPy would take one for a sequence
    array = np.asarray(None if is_mapping else values)
    kind = array.dtype.kind
    if kind == "O" and array.ndim == 0 and not isinstance(array.item(), (str, bytes)):
        msg = f"an array, or what NumPy makes one of, is needed, not {type(values).__name__}"
        raise TypeError(msg)
    if kind == "i":
        found = array == -number
    elif kind == "f":
        if (bits := _NAN_BITS.get(array.dtype.itemsize)) is None:
            msg = f"VCF Zarr has no missing value of type {array.dtype}"
            raise TypeError(msg)
        unsigned = np.dtype(f"u{array.dtype.itemsize}").newbyteorder(array.dtype.byteorder)
        found = array.view(unsigned) == bits + number
    elif kind in "UT":
        found = array == text
    elif kind == "S":
        found = array == text.encode()
    elif kind == "O":
        found = (array == text) | (array == text.encode())
    elif kind in "ub":
        found = np.zeros(array.shape, np.bool_)  # neither has room for one
    else:
        msg = f"VCF Zarr has no missing value of type {array.dtype}"
        raise TypeError(msg)
    return np.asarray(found, np.bool_)
