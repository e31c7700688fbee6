from collections.abc import Iterable

from vczc._arrow import Column

def export_stream(schema: Column, columns: Iterable[Column]) -> object: ...  # a PyCapsule
