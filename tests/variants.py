# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""A small VCZ for the tests of regions and streams, and the plain definition of an overlap."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import stores

DIMS = ("variants", "samples", "ploidy")
FIELDS = (
    "variant_contig",
    "variant_position",
    "variant_length",
    "variant_id",
    "variant_filter",
    "call_genotype",
    "call_DP",
    "call_GT_text",
)


def write(
    root: Path,
    rows: Any,
    contigs: list[str],
    *,
    chunk: int = 4,
    chunks: dict[str, int] | None = None,
    samples: list[str] | None = None,
    leave_out: tuple[str, ...] = (),
    **settings: Any,
) -> dict[str, np.ndarray]:
    """A VCZ of `rows` (contig number, position, length); gives what it holds."""
    rows = np.array(rows, "i4").reshape(-1, 3)
    n = len(rows)
    ids = ["s0", "s1", "s2"] if samples is None else samples
    rng = np.random.default_rng(1)
    data: dict[str, Any] = {
        "variant_contig": rows[:, 0].astype("i2"),
        "variant_position": rows[:, 1],
        "variant_length": rows[:, 2],
        "variant_id": np.array([f"v{i}" * (i % 3) for i in range(n)], object),
        "variant_allele": np.array([["A" * length, "T"] for length in rows[:, 2]], object),
        "variant_filter": rng.integers(0, 2, (n, 3)).astype(bool),
        "call_genotype": rng.integers(-2, 3, (n, len(ids), 2)).astype("i1"),
        "call_DP": rng.integers(0, 1000, (n, len(ids))).astype("i4"),
        "call_GT_text": rng.integers(0, 99, (n, len(ids))).astype(str).astype(object),
    }
    data["variant_allele"] = data["variant_allele"].reshape(n, 2)
    for name, values in data.items():
        if name in leave_out:
            continue
        middle = {"variant_filter": "filters", "variant_allele": "alleles"}
        dims = [DIMS[0], *[middle.get(name, d) for d in DIMS[1 : values.ndim]]]
        shape = ((chunks or {}).get(name, chunk), 2, 2)[: values.ndim]
        _write(root, name, values, shape, dims, settings)
    for name, values in (("contig_id", contigs), ("sample_id", ids), ("filter_id", ["PASS"])):
        data[name] = np.array(values, object)
        _write(root, name, data[name], (max(1, len(values)),), [name.replace("_id", "s")], settings)
    return data


def _write(
    root: Path, name: str, values: Any, chunks: Any, dims: list[str], settings: dict[str, Any]
) -> None:
    if settings.get("zarr_format", 2) == 3:
        stores.write(root, name, values, chunks, dimension_names=dims, **settings)
    else:
        attributes = {"_ARRAY_DIMENSIONS": dims}
        stores.write(root, name, values, chunks, attributes=attributes, **settings)


def span(region: str) -> tuple[str, int, int]:
    """Contig, first and last position of a region whose contig has no colon."""
    match = re.fullmatch(r"([^:]+)(?::(\d+)(-)?(\d+)?)?", region)
    start = int(match[2] or 0)
    stop = int(match[4]) if match[4] else 1 << 40 if match[3] or not match[2] else start
    return match[1], start, stop


def overlapping(data: dict[str, Any], regions: list[str], overlap: str = "record") -> list[int]:
    """The numbers of the rows that overlap any of the regions: the definition, no algorithm."""
    found = []
    contigs = data["contig_id"].tolist()
    columns = [data[f"variant_{x}"].tolist() for x in ("contig", "position", "length")]
    for i, (contig, position, length) in enumerate(zip(*columns, strict=True)):
        end = position + length - 1 if overlap == "record" else position
        for name, start, stop in map(span, regions):
            if contigs[contig] == name and position <= stop and end >= start:
                found.append(i)
                break
    return found


def rows_of(ranges: list[slice]) -> list[int]:
    return [i for r in ranges for i in range(r.start, r.stop)]
