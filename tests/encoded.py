# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Stores that bio2zarr makes now of the sample's VCF, one of each format."""

from __future__ import annotations

import importlib.util
import logging
import warnings
from pathlib import Path

import oracle
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def encode(work: Path, *, as_ascii: bool = False) -> dict[int, Path]:
    """The folder of a store, by its format."""
    pytest.importorskip("cyvcf2", reason="the extra bio2zarr[vcf] reads VCF with it")
    spec = importlib.util.spec_from_file_location("make_sample", EXAMPLES / "make_sample.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    text = (EXAMPLES / "sample.vcf").read_text(encoding="utf-8")
    if as_ascii:
        text = text.encode("ascii", "replace").decode().replace("?", "_")
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what bio2zarr does with zarr-python is its own affair
            import bio2zarr.vcf

            bio2zarr.vcf.explode(work / "icf", script.split_by_contig(text, work))
            for zarr_format in oracle.FORMATS:
                bio2zarr.vcf.encode(
                    work / "icf",
                    work / f"{zarr_format}.vcz",
                    variants_chunk_size=70,
                    samples_chunk_size=4,
                    zarr_format=zarr_format,
                )
    finally:
        logging.disable(logging.NOTSET)
    return {zarr_format: work / f"{zarr_format}.vcz" for zarr_format in oracle.FORMATS}
