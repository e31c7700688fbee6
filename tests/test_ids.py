# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What names samples and contigs: one text of any kind, several of them, and nothing else."""

import pathlib
import re

import numpy as np
import pytest

import vczc
from vczc import genotypes

SAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "sample.vcz.zip"
ROOT = vczc.open(SAMPLE)
TEXTS = ["numpy", "object", "bytes"]

ONE = {
    "str": str,
    "bytes": str.encode,
    "numpy's str": np.str_,
    "numpy's bytes": lambda text: np.bytes_(text.encode()),
    "0-d str": np.array,
    "0-d bytes": lambda text: np.array(text.encode()),
    "0-d text": lambda text: np.array(text, np.dtypes.StringDType()),
    "0-d object": lambda text: np.array(text, object),
}


def columns(samples):
    """The samples that a stream takes, told by their depths."""
    [depths] = [p["call_DP"] for p in vczc.stream(ROOT, "call_DP", variants=[5], samples=samples)]
    return depths[0].tolist()


@pytest.mark.parametrize("make", ONE.values(), ids=ONE)
def test_one_text_of_any_kind(make):
    depths = ROOT["call_DP"][5].tolist()
    for given in (make("Zoë"), [make("Zoë")], (make("Zoë"),)):
        assert vczc.samples(ROOT, given).tolist() == [7]
        assert columns(given) == [depths[7]]
        assert genotypes.dosage(ROOT, samples=given).shape == (360, 1)
    for given in (make("20:100000-150000"), [make("20:100000-150000")]):
        assert vczc.region(ROOT, given) == vczc.region(ROOT, "20:100000-150000") != []
        assert len(genotypes.dosage(ROOT, region=given)) == 54


@pytest.mark.parametrize("strings", TEXTS)
def test_what_comes_out_of_a_store_names_it(strings):
    root = vczc.open(SAMPLE, strings=strings)
    ids, contigs = root["sample_id"], root["contig_id"]
    for i in (0, 7):
        assert vczc.samples(root, ids[i]).tolist() == [i]
        assert vczc.samples(root, [ids[i]]).tolist() == [i]
    assert vczc.samples(root, ids[5:8]).tolist() == [5, 6, 7]
    assert vczc.region(root, contigs[0]) == vczc.region(root, "20")
    assert vczc.region(root, contigs[:2]) == vczc.region(root, ["20", "21"])


def test_bytes_are_an_id_and_never_numbers_of_samples():
    for given in (bytes([0, 1]), np.array(bytes([1]))):
        with pytest.raises(vczc.UnknownIdError):
            columns(given)
        with pytest.raises(vczc.UnknownIdError):
            genotypes.dosage(ROOT, samples=given)
    assert next(vczc.stream(ROOT, b"call_DP")).start == 0
    for given in (99, np.array(99)):
        with pytest.raises(TypeError, match="fields are the name of an array"):
            vczc.stream(ROOT, given)


@pytest.mark.parametrize("wrong", [None, 3, 0.5, np.int64(3), np.array(3), np.array(None, object)])
def test_what_is_no_text_is_shown(wrong):
    shown = re.escape(repr(wrong))
    for call in (vczc.samples, vczc.region):
        for given in (wrong, [wrong], ["20", wrong] if call is vczc.region else ["Zoë", wrong]):
            with pytest.raises(TypeError, match=shown):
                call(ROOT, given)
    if wrong is not None:  # all samples
        with pytest.raises(TypeError, match=shown):
            columns(wrong)


@pytest.mark.parametrize("given", [("20", 100_000, 150_000), [("20", 100_000, 150_000)]])
def test_a_region_is_no_tuple_of_its_parts(given):
    with pytest.raises(TypeError, match=r"a region is a str such as 'chr1:100-200'.* 1[05]0000"):
        vczc.region(ROOT, given)


def test_places_that_are_no_numbers_name_their_type():
    calls = ROOT["call_genotype"]
    for given in ([0.5], np.arange(3.0), [[0.5]]):
        with pytest.raises(IndexError, match=r"an axis is selected by .* of float64"):
            calls.oindex[given]
        with pytest.raises(IndexError, match=r"an axis is selected by .* of float64"):
            vczc.stream(ROOT, "call_genotype", variants=given)
    with pytest.raises(IndexError, match=r"`vczc.samples` finds"):
        calls.oindex[:, ["Zoë"]]


def test_ids_are_listed_in_the_order_of_the_store():
    with pytest.raises(vczc.UnknownIdError, match=r"'20', '21', 'MT', 'X', 'HLA"):
        vczc.region(ROOT, "something else")
