from collections.abc import Mapping
from typing import Any

from vczc._core import Store
from vczc.remote import Reader

def open_mapping(
    mapping: Mapping[str, Any], name: str, *, prefer_consolidated: bool = False
) -> Store: ...
def open_ranges(reader: Reader, name: str) -> Store: ...
