from typing import Any, Self

import numpy as np
from typing_extensions import disjoint_base

@disjoint_base
class Column:
    def __new__(
        cls,
        format: str,
        length: int,
        buffers: tuple[np.ndarray[Any, Any] | None, ...],
        *,
        name: str = "",
        children: tuple[Column, ...] = (),
    ) -> Self: ...
    @property
    def format(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def length(self) -> int: ...
    @property
    def buffers(self) -> tuple[np.ndarray[Any, Any] | None, ...]: ...
    @property
    def children(self) -> tuple[Column, ...]: ...

def export_schema(column: Column) -> object: ...  # a PyCapsule
def export_array(column: Column) -> object: ...  # a PyCapsule
