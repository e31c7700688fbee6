# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What takes a number is given anything: it takes it, or refuses it with words."""

import decimal
import fractions
import io
import pathlib
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vczc
from vczc import errors
from vczc.cli.__main__ import run

SAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "sample.vcz.zip"
ROOT = vczc.open(SAMPLE)
CALLS = ROOT["call_genotype"]
ALLELES = ROOT["variant_allele"]
POSITIONS = ROOT["variant_position"]


@pytest.fixture(autouse=True)
def _no_causes_left():
    """Opening a mapping passes over a failure to list it, whose cause is then nobody's."""
    yield
    errors._causes.clear()


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value

    def __repr__(self):
        return f"Index({self.value.bit_length()} bits)"


def part_of(**settings):
    with vczc.stream(ROOT, ["call_DP"], **settings) as parts:
        return next(parts)


def set_threads(n):
    try:
        vczc.set_threads(n)
    finally:
        vczc.set_threads(0)


def pool(n):
    vczc.set_buffer_pool(n)
    vczc.set_buffer_pool(0)


# Called with anything.
TAKERS = {
    "max_chunk_bytes": lambda v: vczc.open(SAMPLE, max_chunk_bytes=v)["call_DP"],
    "set_threads": set_threads,
    "set_buffer_pool": pool,
    "blocks[v]": lambda v: CALLS.blocks[v],
    "blocks[v, 0]": lambda v: CALLS.blocks[v, 0],
    "blocks[:v]": lambda v: CALLS.blocks[:v],
    "blocks[::v]": lambda v: CALLS.blocks[::v],
    "blocks.read": lambda v: CALLS.blocks.read(v),
    "blocks.read threads": lambda v: CALLS.blocks.read((0, 0, 0), threads=v),
    "blocks.stored": lambda v: CALLS.blocks.stored((v, 0, 0)),
    "blocks.strings": lambda v: ALLELES.blocks.strings((v, 0)),
    "blocks.prefetch": lambda v: CALLS.blocks.prefetch([(v, 0, 0)]),
    "fetch_chunk": lambda v: ROOT.store.fetch_chunk("call_DP", (v, 0)),
    "fetch_chunk of one": lambda v: ROOT.store.fetch_chunk("variant_position", v),
    "a[v]": lambda v: POSITIONS[v],
    "a[0, v]": lambda v: CALLS[0, v],
    "a[v:]": lambda v: POSITIONS[v:],
    "a[:v]": lambda v: POSITIONS[:v],
    "a[::v]": lambda v: POSITIONS[::v],
    "text[v]": lambda v: ALLELES[v],
    "oindex": lambda v: CALLS.oindex[v],
    "oindex of two": lambda v: CALLS.oindex[[0], v],
    "read": lambda v: POSITIONS.read(v),
    "read threads": lambda v: POSITIONS.read(np.s_[:2], threads=v),
    "read out": lambda v: POSITIONS.read(np.s_[:2], out=v),
    "stream memory": lambda v: part_of(memory=v),
    "stream threads": lambda v: part_of(threads=v),
    "stream variants": lambda v: part_of(variants=v),
    "stream samples": lambda v: part_of(samples=v),
    "stream progress": lambda v: part_of(progress=v),
    "to_arrow memory": lambda v: vczc.to_arrow(ROOT, ["variant_position"], memory=v),
    "to_arrow threads": lambda v: vczc.to_arrow(ROOT, ["variant_position"], threads=v),
    "dosage out": lambda v: vczc.genotypes.dosage(ROOT, out=v),
    "dosage samples": lambda v: vczc.genotypes.dosage(ROOT, samples=v),
    "dosage variants": lambda v: vczc.genotypes.dosage(ROOT, variants=v),
    "dosage threads": lambda v: vczc.genotypes.dosage(ROOT, threads=v),
    "nalleles": lambda v: vczc.genotypes.allele_counts(ROOT, v, variants=slice(0, 3)),
    "samples": lambda v: vczc.samples(ROOT, v),
    "region": lambda v: vczc.region(ROOT, v),
    "MemoryStore": vczc.MemoryStore,
}

# Of these a bool is no number: whoever writes threads=True means something else.
COUNTS = ("max_chunk_bytes", "set_threads", "set_buffer_pool", "nalleles", "fetch_chunk")
COUNTS += tuple(name for name in TAKERS if "threads" in name or "memory" in name)

POWERS = [sign * 2**n for n in (31, 32, 63, 64, 65, 4000) for sign in (1, -1)]
ODD = [
    *(n + more for n in POWERS for more in (-1, 0, 1)), 10**400, True, False, np.True_, 1.5, 2.0,
    float("nan"), float("inf"), -float("inf"), np.float64(2), np.float32("nan"),
    np.uint64(2**64 - 1), np.int64(-(2**63)), np.datetime64(1, "s"), np.array(1), np.array(1.5),
    np.array([1.5]), None, "x", "", "9" * 400, "9" * 5000, "-5", "nan MiB", "inf", "1e400 GB",
    "1" * 299 + "." + "1" * 299, "1\0", b"1", object(), 1j, {1: 2}, {1}, [[1]], [-(10**30)], [1.5],
    [float("nan")], [None], (2**63,), (True,), slice(0.5, 2), slice(None, None, 10**30),
    Index(10**30), Index(-1), fractions.Fraction(1, 2), decimal.Decimal("1e999"),
    decimal.Decimal("nan"), ..., lambda: 1,
]  # fmt: skip

REFUSALS = (ValueError, TypeError, IndexError, vczc.Error)


def give(name, value):
    """True where it is taken; what refuses it has words, and no other exception comes."""
    refusals = REFUSALS
    if name == "nalleles":  # so many are a table that no machine has room for
        refusals = (*REFUSALS, MemoryError)
    try:
        TAKERS[name](value)
    except refusals as err:
        words = str(err)
    else:
        return True
    assert words.strip()
    assert len(words) < 10_000
    return False


@pytest.mark.parametrize("name", TAKERS)
def test_anything_where_a_number_is_taken(name):
    for value in ODD:
        give(name, value)


@pytest.mark.parametrize("name", COUNTS)
def test_numbers_that_none_can_be(name):
    no_numbers = [True, False, np.True_, 1.5, 2.0, float("nan"), float("inf"), 1j, [1.5], "x", b"1"]
    for value in [*no_numbers, fractions.Fraction(1, 2), -(2**63) - 1, -(10**400)]:
        assert not give(name, value)
    if "memory" not in name:  # more than there is means all
        for value in (2**63, 10**30, 10**400, np.uint64(2**64 - 1), Index(10**30)):
            assert not give(name, value)


@settings(deadline=None)
@given(
    st.sampled_from([name for name in TAKERS if name != "nalleles"]),
    st.integers() | st.integers().map(Index) | st.floats() | st.text() | st.booleans(),
)
def test_any_value_where_a_number_is_taken(name, value):
    give(name, value)


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [
        ("0", 0), ("1", 1), ("1.5 kB", 1500), ("1.5KiB", 1536), ("256 MiB", 256 << 20),
        (".5 GB", None), ("2.25 GiB", 9 << 28), ("1 TiB", 1 << 40), ("0.1 B", 0),
        ("9007199254740993", 2**53 + 1), ("9" * 300 + " TB", sys.maxsize), ("9" * 301, None),
        ("9" * 5000, None), ("1e3", None), ("-1", None), ("nan", None), ("1 EB", None),
    ],
)  # fmt: skip
def test_memory_as_text(text, nbytes):
    from vczc.stream import nbytes_of

    if nbytes is None:
        with pytest.raises(ValueError, match="memory is a number of bytes"):
            nbytes_of(text)
    else:
        assert nbytes_of(text) == nbytes


TEXTS = [
    "0", "-1", "2147483648", "9223372036854775808", "1" + "0" * 30, "9" * 5000, "1.5", "nan", "inf",
    "-inf", "x", "", "1e3", "0x10", "True", "1_000", "٣", " 1", "--", "1,2", "-1,-1", "0,", "a:b",
    "9" * 30 + "," + "9" * 30, "0:" + "9" * 30, "9" * 30 + ":", "-" + "9" * 30 + ":", "5:1", "::",
    ":", "1:2:3", "20:0", "20:" + "9" * 40, "20:5-1", "20:1-" + "9" * 25, "^", ",", "\t",
]  # fmt: skip
FLAGS = {
    "jobs": lambda v: ["check", str(SAMPLE), f"--jobs={v}"],
    "threads": lambda v: ["bench", str(SAMPLE), "--array=nothing", f"--threads={v}"],
    "rows": lambda v: ["cat", str(SAMPLE), "call_DP", f"--rows={v}"],
    "block": lambda v: ["cat", str(SAMPLE), "call_DP", f"--block={v}"],
    "region": lambda v: ["cat", str(SAMPLE), "call_DP", f"--region={v}"],
    "samples": lambda v: ["cat", str(SAMPLE), "call_DP", f"--samples={v}", "--rows=0"],
}


@pytest.mark.parametrize("flag", FLAGS)
def test_anything_where_a_flag_takes_a_number(flag, monkeypatch):
    for text in TEXTS:
        out = io.TextIOWrapper(io.BytesIO(), write_through=True)
        err = io.StringIO()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        status = run(FLAGS[flag](text))
        monkeypatch.undo()
        told = err.getvalue()
        assert status in (0, 2), (text, told)
        assert (told.startswith("vczc: ") and told.count("\n") == 1) if status else not told, text
        if flag in ("jobs", "threads") and len(text) > 8:
            assert status == 2
