from collections.abc import Mapping
from typing import Any

from vczc._core import Store

def open_mapping(
    mapping: Mapping[str, Any], name: str, *, prefer_consolidated: bool = False
) -> Store: ...
