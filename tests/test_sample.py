# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The sample archive: it is what its script makes, and reads back as what its VCF says."""

import importlib.util
import pathlib
import re
import zipfile

import numpy as np
import pytest
import zarr

import vczc

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
ARCHIVE = EXAMPLES / "sample.vcz.zip"
TEXT = EXAMPLES / "sample.vcf"

MISSING = {"Integer": -1, "Float": 0x7F800001, "String": ".", "Character": "."}
FILL = {"Integer": -2, "Float": 0x7F800002, "String": "", "Character": ""}


# ---- The VCF, read by hand


class Vcf:
    """The text of a VCF file, split into its parts and no further."""

    def __init__(self, path):
        lines = path.read_text(encoding="utf-8").splitlines()
        header = [line for line in lines if line.startswith("##")]
        self.contigs = re.findall(r"##contig=<ID=([^,]+),", "\n".join(header))
        self.filters = re.findall(r"##FILTER=<ID=([^,]+),", "\n".join(header))
        field = r"##(INFO|FORMAT)=<ID=([^,]+),Number=([^,]+),Type=([^,]+),"
        self.fields = {
            (kind, name): (n, t) for kind, name, n, t in re.findall(field, "\n".join(header))
        }
        self.samples = next(x for x in lines if x.startswith("#CHROM")).split("\t")[9:]
        self.records = [line.split("\t") for line in lines if not line.startswith("#")]

    def info(self, name):
        """For each record the text of the field, True for a flag, or None."""
        for record in self.records:
            pairs = (item.partition("=") for item in record[7].split(";"))
            found = {key: value if equals else True for key, equals, value in pairs}
            yield found.get(name)

    def calls(self, name):
        """For each record a list of the samples' texts, None where one is left out, or None."""
        for record in self.records:
            keys = record[8].split(":")
            if name not in keys:
                yield None
                continue
            at = keys.index(name)
            calls = (call.split(":") for call in record[9:])
            yield [call[at] if at < len(call) else None for call in calls]


def item(text, kind):
    """One value as it is stored; a float as its bits."""
    if text == ".":
        return MISSING[kind]
    if kind == "Integer":
        return int(text)
    return int(np.float32(text).view("u4")) if kind == "Float" else text


def row(text, kind, width):
    """The values of one field of one record: missing in full, or filled up to the width."""
    if text is None or (text == "." and kind != "String"):
        return [MISSING[kind]] * width
    got = [item(part, kind) for part in text.split(",")] if width > 1 else [item(text, kind)]
    return got + [FILL[kind]] * (width - len(got))


def call_rows(calls, kind, width, nsamples):
    """The values of one field of all calls of one record."""
    if calls is None:
        return [[MISSING[kind]] * width] * nsamples
    texts = ["." if c is None else c for c in calls]
    rows = [[item(part, kind) for part in text.split(",")] for text in texts]
    if kind == "Float":  # bio2zarr: missing as far as the longest call of the record reaches
        longest = max(map(len, rows))
        rows = [r + [MISSING[kind]] * (longest - len(r)) for r in rows]
    return [r + [FILL[kind]] * (width - len(r)) for r in rows]


def stored(array):
    """The array as lists of one list for each row or call; floats as their bits."""
    values = array[...]
    if values.dtype.kind == "f":
        values = values.view("u4")
    return values


# ---- The tests


@pytest.fixture(scope="module")
def vcf():
    return Vcf(TEXT)


@pytest.fixture(scope="module")
def root():
    with vczc.ZipStore(ARCHIVE) as store:
        yield vczc.open_group(store)


def test_script_makes_this_text():
    spec = importlib.util.spec_from_file_location("make_sample", EXAMPLES / "make_sample.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.vcf_text() == TEXT.read_text(encoding="utf-8")


def test_archive_is_as_the_documents_say():
    with zipfile.ZipFile(ARCHIVE) as archive:
        entries = archive.infolist()
    assert {e.compress_type for e in entries} == {zipfile.ZIP_STORED}
    is_document = [e.filename.rpartition("/")[2].startswith(".z") for e in entries]
    assert is_document == sorted(is_document, reverse=True)
    assert ARCHIVE.stat().st_size < 300_000


def test_sizes(root, vcf):
    assert root["call_genotype"].shape == (len(vcf.records), len(vcf.samples), 2)
    assert root["call_genotype"].cdata_shape == (4, 3, 1)
    assert root["contig_id"][:].tolist() == vcf.contigs
    assert root["sample_id"][:].tolist() == vcf.samples
    assert root["filter_id"][:].tolist() == vcf.filters
    assert root["variant_SOMATIC"].nchunks_initialized == 0


def test_fixed_columns(root, vcf):
    contig, position, name, ref, alt, quality, filters = zip(
        *(r[:7] for r in vcf.records), strict=True
    )
    assert [vcf.contigs[i] for i in root["variant_contig"][:]] == list(contig)
    assert root["variant_position"][:].tolist() == [int(p) for p in position]
    assert root["variant_id"][:].tolist() == list(name)
    assert root["variant_id_mask"][:].tolist() == [n == "." for n in name]
    alleles = [[r] + ([] if a == "." else a.split(",")) for r, a in zip(ref, alt, strict=True)]
    width = max(map(len, alleles))
    assert root["variant_allele"][:].tolist() == [a + [""] * (width - len(a)) for a in alleles]
    bits = [item(q, "Float") for q in quality]
    assert root["variant_quality"][:].view("u4").tolist() == bits
    passed = [[f in text.split(";") for f in vcf.filters] for text in filters]
    assert root["variant_filter"][:].tolist() == passed
    ends = [None if e is None else int(e) for e in vcf.info("END")]
    whole = zip(ends, position, ref, strict=True)
    lengths = [len(r) if e is None else e - int(p) + 1 for e, p, r in whole]
    assert root["variant_length"][:].tolist() == lengths


def test_genotypes(root, vcf):
    genotype, phased, mask = [], [], []
    for calls in vcf.calls("GT"):
        split = [re.split(r"[/|]", call) for call in calls]
        alleles = [[-1 if a == "." else int(a) for a in call] for call in split]
        genotype.append([a + [-2] * (2 - len(a)) for a in alleles])
        phased.append(["|" in call for call in calls])
    got = root["call_genotype"][...]
    assert got.tolist() == genotype
    mask = root["call_genotype_mask"][...]
    assert np.array_equal(mask, got < 0)
    assert {-2, -1, 0, 1, 2, 3} == set(np.unique(got).tolist())
    # A haploid call counts as phased or not as the writer likes: two alleles are compared.
    both = (got != -2).all(axis=-1)
    assert np.array_equal(root["call_genotype_phased"][...][both], np.array(phased)[both])


def test_info_fields(root, vcf):
    names = [name for kind, name in vcf.fields if kind == "INFO"]
    assert len(names) > 15
    for name in names:
        number, kind = vcf.fields["INFO", name]
        got = stored(root[f"variant_{name}"])
        if kind == "Flag":
            assert got.tolist() == [text is True for text in vcf.info(name)], name
            continue
        width = 1 if got.ndim == 1 else got.shape[1]
        expected = [row(text, kind, width) for text in vcf.info(name)]
        assert got.reshape(len(got), width).tolist() == expected, (name, number)


def test_format_fields(root, vcf):
    names = [name for kind, name in vcf.fields if kind == "FORMAT" and name != "GT"]
    assert len(names) > 10
    for name in names:
        number, kind = vcf.fields["FORMAT", name]
        got = stored(root[f"call_{name}"])
        width = 1 if got.ndim == 2 else got.shape[2]
        expected = [call_rows(calls, kind, width, len(vcf.samples)) for calls in vcf.calls(name)]
        assert got.reshape(*got.shape[:2], width).tolist() == expected, (name, number)


def test_all_arrays_equal_zarr_python(root):
    other = zarr.open_group(zarr.storage.ZipStore(ARCHIVE, mode="r"), mode="r")
    assert sorted(root) == sorted(other.array_keys())
    for name in root:
        got, expected = root[name][...], other[name][...]
        assert got.shape == expected.shape
        if got.dtype.kind == "T":
            assert got.tolist() == expected.tolist(), name
        else:
            assert got.dtype == expected.dtype
            assert got.tobytes() == np.asarray(expected).tobytes(), name
