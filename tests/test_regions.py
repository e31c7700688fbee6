# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Regions: what is written, which rows overlap, and that bcftools finds the same."""

import gzip
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import stores
import variants
from hypothesis import given, settings
from hypothesis import strategies as st

import vczc
import vczc.regions

CONTIGS = ["chr1", "chr2", "HLA:1", "HLA", "chr3", "{x}"]
ROWS = [
    (0, 90, 1),
    (0, 95, 20),
    (0, 98, 3),
    (0, 99, 1),
    (0, 100, 1),
    (0, 150, 1),
    (0, 199, 2),
    (0, 201, 1),
    (0, 300, 100),
    (0, 310, 1),
    (0, 320, 1),
    (1, 1, 1),
    (1, 5, 5),
    (2, 7, 1),
    (3, 1, 1),
    (3, 7, 1),
    (0, 100, 2),  # a contig that comes again, out of order
    (0, 12, 1),
    (5, 3, 1),
]


@pytest.fixture(params=stores.FORMATS)
def store(request, tmp_path):
    data = variants.write(tmp_path / "d", ROWS, CONTIGS, zarr_format=request.param)
    return vczc.open(tmp_path / "d"), data


def rows(root, region, **kwargs):
    ranges = vczc.region(root, region, **kwargs)
    assert all(type(r) is slice and r.start < r.stop and r.step is None for r in ranges)
    assert all(a.stop < b.start for a, b in pairwise(ranges))
    return variants.rows_of(ranges)


@pytest.mark.parametrize("overlap", ["record", "pos"])
@pytest.mark.parametrize(
    "region",
    [
        "chr1",
        "chr1:100",
        "chr1:100-200",
        "chr1:101-149",
        "chr1:1-89",
        "chr1:114",
        "chr1:115",
        "chr1:315-",
        "chr1:399",
        "chr1:400-",
        "chr2:9",
        "chr2:10-",
        "chr1:0-12",
        "chr3",
        "chr3:5",
    ],
)
def test_region_by_definition(store, region, overlap):
    root, data = store
    assert rows(root, region, overlap=overlap) == variants.overlapping(data, [region], overlap)


def test_whole_name_before_the_colon(store):
    root, _ = store
    assert rows(root, "HLA:1") == [13]
    assert rows(root, "HLA:1-1") == [14]
    assert rows(root, "HLA:1:7") == [13]
    assert rows(root, "{HLA}:1") == [14]
    assert rows(root, "{HLA}") == [14, 15]
    assert rows(root, "{HLA:1}:8") == []
    assert rows(root, "{x}") == rows(root, "{x}:3") == [18]


def test_several(store):
    root, data = store
    several = ["chr1:150-300", "chr1:95", "chr2:1-4", "chr1:140-151"]
    expected = variants.overlapping(data, several)
    assert rows(root, several) == expected
    assert rows(root, iter(several)) == expected
    assert rows(root, np.array(several)) == expected
    assert rows(root, ",".join(several)) == expected
    assert rows(root, []) == []


def test_separators_of_thousands(tmp_path):
    positions = [1_999, 2_000, 31_000, 1_234_567]
    variants.write(tmp_path / "d", [(0, p, 1) for p in positions], ["1", "000"])
    root = vczc.open(tmp_path / "d")
    assert rows(root, "1:2,000-31,000") == [1, 2]
    assert rows(root, "1:1,234,567") == [3]
    assert rows(root, ["1:2,000"]) == [1]
    assert rows(root, "1:2000,000") == [1]  # as bcftools: between commas, where those are contigs


@pytest.mark.parametrize(
    "region",
    ["chr1:", "chr1:x", "chr1:5-x", "chr1:-5", "chr1:9-5", "chr1:5-6-7", "chr1:1,00", "chr1:1e3"],
)
def test_malformed(store, region):
    with pytest.raises(ValueError, match="region"):
        vczc.region(store[0], region)
    with pytest.raises(ValueError, match="region"):
        vczc.region(store[0], [region])


@pytest.mark.parametrize(
    ("region", "hint"),
    [("1", "'chr1'"), ("1:5-6", "'chr1'"), ("chrX", "chr"), ("", "chr1"), ("chr1,chrX", "chr1")],
)
def test_unknown_contig(store, region, hint):
    with pytest.raises(vczc.Error, match="there is no contig") as caught:
        vczc.region(store[0], region)
    assert hint in str(caught.value)
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, ValueError)


def test_wrong_kinds(store):
    root, _ = store
    with pytest.raises(TypeError, match="str"):
        vczc.region(root, [5])
    with pytest.raises(ValueError, match="overlap"):
        vczc.region(root, "chr1", overlap="variant")
    with pytest.raises(TypeError, match="group"):
        vczc.region("path", "chr1")
    with pytest.raises(vczc.NodeNotFoundError, match="contig_id"):
        vczc.region(vczc.open({".zgroup": b'{"zarr_format": 2}'}), "chr1")


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.bed", "track x\n#c\nchr1\t99\t200\nchr2\t0\t4\tname\n\nchr1\t5\t5\n"),
        ("r.BED", "chr1 99 200\r\nchr2 0 4\r\n"),
        ("r.tsv", "#CHROM\tFROM\tTO\nchr1\t100\t200\nchr2\t1\t4\tmore\n"),
        ("r.txt", "chr2\t1\nchr1\t100\t200\n"),
        ("r", "chr1\t100\t200\nchr2\t1\n"),
    ],
)
def test_file(store, tmp_path, name, text, zipped):
    root, data = store
    path = tmp_path / (name + ".gz" * zipped)
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    expected = variants.overlapping(data, ["chr1:100-200", "chr2:1-4"])
    assert rows(root, path) == rows(root, str(path)) == expected
    parts = vczc.stream(root, ["variant_position"], region=path)
    assert [i for part in parts for i in part.index.tolist()] == expected


def test_file_of_whole_contigs_and_of_records(store, tmp_path):
    root, data = store
    (tmp_path / "r.tsv").write_text("chr2\nchr3\n")
    assert rows(root, tmp_path / "r.tsv") == variants.overlapping(data, ["chr2"])
    (tmp_path / "r.vcf").write_text("##x\n#CHROM\tPOS\tID\tREF\nchr1\t100\t5\tA\n")
    assert rows(root, tmp_path / "r.vcf") == variants.overlapping(data, ["chr1:100"])


def test_file_that_is_wrong(store, tmp_path):
    with pytest.raises(FileNotFoundError):
        vczc.region(store[0], "absent.bed")
    (tmp_path / "r.bed").write_text("chr1\t1\t2\nchr1\tx\t5\n")
    with pytest.raises(ValueError, match="line 2"):
        vczc.region(store[0], tmp_path / "r.bed")
    (tmp_path / "r.bed").write_text("chr1\t1\t2\nchrX\t1\t5\n")
    with pytest.raises(vczc.Error, match="chrX"):
        vczc.region(store[0], tmp_path / "r.bed")


@pytest.mark.parametrize("strings", ["numpy", "object", "bytes"])
@pytest.mark.parametrize("allele", ["two axes", "one axis"])
def test_without_lengths_the_reference_allele_counts(tmp_path, strings, allele):
    data = variants.write(tmp_path / "d", ROWS, CONTIGS, leave_out=("variant_length",))
    if allele == "one axis":
        shutil.rmtree(tmp_path / "d" / "variant_allele")
        stores.write(tmp_path / "d", "variant_allele", data["variant_allele"][:, 0], (4,))
    root = vczc.open(tmp_path / "d", strings=strings)
    for region in ("chr1:114", "chr1:115", "chr2:9", "chr1:399"):
        assert rows(root, region) == variants.overlapping(data, [region])
    stores.write(
        tmp_path / "d", "variant_END", np.where(data["variant_id"] == "v4", 5000, -1), (4,)
    )
    assert rows(vczc.open(tmp_path / "d"), "chr1:4000-5000") == [4]


def test_without_lengths_and_alleles_positions_count(tmp_path):
    leave_out = ("variant_length", "variant_allele")
    data = variants.write(tmp_path / "d", ROWS, CONTIGS, leave_out=leave_out)
    root = vczc.open(tmp_path / "d")
    assert rows(root, "chr1:90-114") == variants.overlapping(data, ["chr1:90-114"], "pos")


def test_a_stale_index_loses_no_row(tmp_path):
    data = variants.write(tmp_path / "d", ROWS, CONTIGS)
    stale = np.array([[0, 3, 5, 6, 6, 4], [9, 0, 1, 2, 2, 4]], "i4")
    stores.write(tmp_path / "d", "region_index", stale, (2, 6))
    root = vczc.open(tmp_path / "d")
    for region in ("chr1", "chr1:100-200", "chr2:5"):
        assert rows(root, region) == variants.overlapping(data, [region])


def test_columns_of_different_lengths_are_refused(tmp_path):
    variants.write(tmp_path / "d", ROWS, CONTIGS, leave_out=("variant_contig",))
    stores.write(tmp_path / "d", "variant_contig", np.zeros(3, "i1"), (3,))
    with pytest.raises(vczc.MetadataError, match="variant_contig"):
        vczc.region(vczc.open(tmp_path / "d"), "chr1")


def test_no_variants(tmp_path):
    variants.write(tmp_path / "d", [], ["1"])
    assert vczc.region(vczc.open(tmp_path / "d"), "1:1-100") == []


RECORDS = st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(1, 30))
NAMES = ["a", "b", "c"]


@st.composite
def regions(draw):
    start = draw(st.integers(0, 70))
    span = draw(st.sampled_from(["", f":{start}", f":{start}-", f":{start}-{start + 9}"]))
    return draw(st.sampled_from(NAMES)) + span


@settings(max_examples=60)
@given(
    records=st.lists(RECORDS, max_size=40),
    chosen=st.lists(regions(), max_size=5),
    overlap=st.sampled_from(["record", "pos"]),
    is_sorted=st.booleans(),
    entry=st.integers(1, 9),
)
def test_any_regions(tmp_path_factory, records, chosen, overlap, is_sorted, entry):
    root = tmp_path_factory.mktemp("r") / "d"
    data = variants.write(root, sorted(records) if is_sorted else records, NAMES, chunk=5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vczc.regions, "_MIN_ENTRY", 1)
        patch.setattr(vczc.regions, "_MAX_ENTRY", entry)
        patch.setattr(vczc.regions, "_MAX_ROWS", 7)
        got = rows(vczc.open(root), chosen, overlap=overlap)
    assert got == variants.overlapping(data, chosen, overlap)


@pytest.mark.skipif(shutil.which("bcftools") is None, reason="bcftools is not here")
@pytest.mark.parametrize(("flag", "overlap"), [("-r", "record"), ("-t", "pos")])
def test_as_bcftools(tmp_path, flag, overlap):
    rng = np.random.default_rng(3)
    contigs = ["1", "chr2", "X"]
    records = sorted(
        (int(c), int(p), int(n))
        for c, p, n in zip(
            rng.integers(0, 2, 80), rng.integers(1, 400, 80), rng.integers(1, 40, 80), strict=True
        )
    )
    variants.write(tmp_path / "d", records, contigs, chunk=7)
    header = "##fileformat=VCFv4.3\n" + "".join(f"##contig=<ID={c}>\n" for c in contigs)
    lines = [
        f"{contigs[c]}\t{p}\tv{i}\t{'A' * n}\tT\t.\t.\t." for i, (c, p, n) in enumerate(records)
    ]
    text = header + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + "\n".join(lines) + "\n"
    vcf = str(tmp_path / "x.vcf.gz")
    subprocess.run(["bcftools", "view", "-Oz", "-o", vcf], input=text, text=True, check=True)
    subprocess.run(["bcftools", "index", vcf], check=True)
    root = vczc.open(tmp_path / "d")
    chosen = ["1", "X", "1:200", "chr2:100-", "1:50-60", "1:50-60,chr2:7-90,1:55-70"]
    for region in (*chosen, *(f"1:{a}-{a + 3}" for a in range(1, 400, 23))):
        command = ["bcftools", "query", flag, region, "-f", "%ID\\n", vcf]
        out = subprocess.run(command, text=True, check=True, capture_output=True).stdout
        assert [f"v{i}" for i in rows(root, region, overlap=overlap)] == out.split(), region


def test_what_is_no_region_and_no_id(store):
    root = store[0]
    with pytest.raises(TypeError, match=r"a region is a str .*20"):
        vczc.region(root, 20)
    with pytest.raises(TypeError, match=r"a region is a str .*20"):
        vczc.region(root, [20])
    with pytest.raises(TypeError, match="a group"):
        vczc.region("path", "chr1")
    with pytest.raises(TypeError, match=r"samples .*Path"):
        vczc.samples(root, Path("ids.txt"))
    with pytest.raises(vczc.UnknownIdError, match="chr9"):
        vczc.region(root, "chr9")
