from typing import Any

import numpy as np

from vczc._core import Strings

def to_numpy(strings: Strings, shape: tuple[int, ...], mode: str) -> np.ndarray[Any, Any]: ...
def pack_into(strings: Strings, out: np.ndarray[Any, Any]) -> None: ...
