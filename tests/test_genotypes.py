# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Dosages, counts, missing rates and packed calls, beside what NumPy makes of the genotypes."""

import contextlib
import gc
import json
import threading
import time
from functools import partial

import genotypes_model as model
import numcodecs
import numpy as np
import oracle
import pytest
import variants
from hypothesis import given
from hypothesis import strategies as st
from strategies import index_arrays, many, masks, steps_of
from test_threads_forks import turns_during

import vczc
from vczc.genotypes import BED_MAGIC, allele_counts, dosage, missing_rate, pack_bed

STYLES = st.sampled_from(sorted(model.STYLES))


def array_of(content):
    return vczc.open(content)["x"]


# ---- In memory


@st.composite
def in_memory(draw):
    """Of any type, ploidy and strides, byte orders and alignments included."""
    shape = tuple(draw(st.integers(0, n)) for n in (12, 70, 4))
    dtype = draw(st.sampled_from(model.DTYPES))
    gt = model.genotypes(shape, draw(STYLES), dtype, draw(st.integers(0, 1 << 20)))
    form = draw(st.sampled_from(["plain", "steps", "axes", "unaligned", "swapped"]))
    if form == "steps":
        wide = np.zeros([2 * n + 1 for n in shape], dtype)
        view = wide[1::2, 1::2, 1::2][:, ::-1, ::-1]
        view[...] = gt
        return view
    if form == "axes":
        return np.asfortranarray(gt)
    if form == "unaligned":
        raw = np.zeros(gt.nbytes + 1, "u1")
        view = np.ndarray(shape, dtype, raw, 1)
        view[...] = gt
        return view
    if form == "swapped":
        return gt.astype(gt.dtype.newbyteorder())
    return gt


@many
@given(in_memory())
def test_memory(gt):
    model.check(gt, gt)


@many
@given(in_memory(), st.sampled_from(model.DOSAGE_DTYPES), st.sampled_from("CFS"))
def test_dosages_of_any_type_into_any_strides(gt, dtype, layout):
    shape = gt.shape[:2]
    if layout == "S":
        out = np.zeros((2 * shape[0], 3 * shape[1]), dtype)[::2, ::-3]
    else:
        out = np.zeros(shape, dtype, order=layout)
    assert dosage(gt, out=out) is out
    np.testing.assert_array_equal(out, model.dosage(gt, dtype))
    np.testing.assert_array_equal(dosage(gt, dtype), out)
    assert dosage(gt, dtype).dtype == np.dtype(dtype)


@pytest.mark.parametrize("ploidy", [1, 2, 3])
def test_many_samples(ploidy):
    """More than is taken at a time, and more than one thread takes."""
    for style in model.STYLES:
        gt = model.genotypes((40, 20_011, ploidy), style)
        model.check(gt, gt)


def test_large_alleles():
    gt = np.array([[[300, -1], [0, 300], [-2, 70_000]]], "i4")
    assert dosage(gt).tolist() == [[-1, 1, 1]]
    counts = allele_counts(gt)
    assert counts.shape == (1, 70_001)
    assert counts[0, [0, 300, 70_000]].tolist() == [1, 2, 1]
    huge = np.full((1, 1, 2), 2**64 - 1, "u8")
    assert dosage(huge).tolist() == [[2]]
    with pytest.raises(ValueError, match="allele 9223372036854775807"):
        allele_counts(huge, 3)


def test_large_ploidy():
    gt = model.genotypes((3, 5, 300), "few")
    np.testing.assert_array_equal(dosage(gt, "i2"), model.dosage(gt, "i2"))
    with pytest.raises(ValueError, match="ploidy 300 do not fit"):
        dosage(gt)


def test_one_missing_allele_is_a_missing_call():
    gt = np.array([[[0, 1], [-1, 1], [1, -2], [-2, -2], [-1, -2], [2, 3]]], "i1")
    assert dosage(gt).tolist() == [[1, -1, 1, -1, -1, 2]]
    assert allele_counts(gt).tolist() == [[1, 3, 1, 1]]
    assert missing_rate(gt).tolist() == [3 / 6]
    assert missing_rate(gt, "sample").tolist() == [0, 1, 0, 1, 1, 0]
    assert pack_bed(gt).tolist() == [[0b01_00_01_10, 0b00_01]]


def test_a_whole_bed_file(tmp_path):
    """As PLINK 1's documentation of the format has it: six individuals, three variants."""
    gt = np.array(
        [
            [[1, 1], [0, 0], [-1, -1], [0, 0], [0, 0], [0, 0]],
            [[0, 0], [-1, -1], [0, 1], [0, 0], [0, 0], [0, 0]],
            [[1, 1], [0, 1], [0, 0], [-1, -1], [-1, -1], [1, 1]],
        ],
        "i1",
    )
    (tmp_path / "x.bed").write_bytes(BED_MAGIC + pack_bed(gt).tobytes())
    rows = [
        [0b11_01_11_00, 0b00_00_11_11],
        [0b11_10_01_11, 0b00_00_11_11],
        [0b01_11_10_00, 0b00_00_00_01],
    ]
    expected = bytes([0x6C, 0x1B, 0x01, *[byte for row in rows for byte in row]])
    assert (tmp_path / "x.bed").read_bytes() == expected


# ---- Out of arrays


def blosc(cname="zstd", shuffle=2, blocksize=0, clevel=5):
    return numcodecs.Blosc(cname, clevel, shuffle, blocksize)


COMPRESSORS = st.builds(
    blosc,
    st.sampled_from(["zstd", "lz4", "zlib"]),
    st.sampled_from([0, 1, 2, 2, 2]),
    st.sampled_from([0, 128, 500, 1000, 4096]),
    st.sampled_from([0, 5, 7]),
) | st.sampled_from([None, numcodecs.Zlib(1), numcodecs.Zstd(1)])


def selections(n):
    return st.none() | steps_of(n) | masks(n) | index_arrays(n)


def picked(selection, n):
    return np.arange(n)[selection if selection is not None else slice(None)]


@st.composite
def arrays(draw):
    """Mostly as bio2zarr writes them, with edges, several chunks of samples, and odd blocks."""
    shape = (
        draw(st.integers(1, 40)),
        draw(st.integers(1, 150)),
        draw(st.sampled_from([2, 2, 2, 1, 3, 4])),
    )
    dtype = draw(st.sampled_from(["i1", "i1", "i1", "i1", "u1", "i2", "i4"]))
    gt = model.genotypes(shape, draw(STYLES), dtype, draw(st.integers(0, 1 << 20)))
    chunks = tuple(draw(st.integers(max(1, n // 4), n + 3)) for n in shape[:2])
    ploidy_chunk = draw(st.sampled_from([shape[2], shape[2], shape[2], 1, shape[2] + 1]))
    absent = draw(st.sets(st.integers(0, 20), max_size=2))
    content = model.stored(gt, (*chunks, ploidy_chunk), draw(COMPRESSORS), absent)
    return content, gt


@many
@given(arrays(), st.sampled_from([None, 1, 2, 5]), st.data())
def test_arrays(made, threads, data):
    content, gt = made
    rows, columns = data.draw(selections(gt.shape[0])), data.draw(selections(gt.shape[1]))
    expected = gt[picked(rows, gt.shape[0])][:, picked(columns, gt.shape[1])]
    model.check(array_of(content), expected, variants=rows, samples=columns, threads=threads)


@many
@given(arrays(), st.sampled_from(model.DOSAGE_DTYPES), st.booleans())
def test_dosages_of_arrays(made, dtype, is_strided):
    content, gt = made
    out = np.zeros((gt.shape[0], 2 * gt.shape[1]), dtype)
    out = out[:, ::2] if is_strided else out[:, : gt.shape[1]]
    assert dosage(array_of(content), dtype, out) is out
    np.testing.assert_array_equal(out, model.dosage(gt, dtype))


@pytest.mark.parametrize("nsamples", [10_000, 9_997])
@pytest.mark.parametrize("style", sorted(model.STYLES))
def test_chunks_as_they_are_in_the_wild(nsamples, style):
    """Blocks of c-blosc's own size, rows that lie in two of them, rows that begin inside a byte."""
    gt = model.genotypes((80, nsamples, 2), style)
    gt[7, 5] = 1, 3  # not all of a style
    for compressor in (blosc(clevel=7), blosc("lz4", blocksize=1 << 16)):
        array = array_of(model.stored(gt, (60, nsamples, 2), compressor))
        model.check(array, gt, threads=2)
        model.check(array, gt[3:64, 17:300], variants=slice(3, 64), samples=slice(17, 300))
        some = [5, 300, 17, 5]
        model.check(array, gt[:, some], samples=some)


def test_results_that_go_past_the_caches():
    """Large ones are written in another way, which begins on a border of 64 bytes."""
    gt = model.genotypes((1100, 8009, 2), "mixed")
    array = array_of(model.stored(gt, (400, 8009, 2), blosc()))
    expected = model.dosage(gt)
    memory = np.empty(expected.size + 64, np.int8)
    for shift in (0, 1, 4, 16, 60):
        out = memory[shift : shift + expected.size].reshape(expected.shape)
        out[...] = 9
        dosage(array, out=out)
        np.testing.assert_array_equal(out, expected)
        out[...] = 9
        dosage(gt, out=out)
        np.testing.assert_array_equal(out, expected)
        memory[expected.size + shift :] = 9


def test_formats_and_byte_orders():
    gt = model.genotypes((20, 30, 2), "mixed", ">i2")
    for zarr_format in oracle.FORMATS:
        stored = oracle.write(gt, (7, 11, 2), zarr_format=zarr_format)
        model.check(array_of(stored.content), gt.astype("i2"))
        stored = oracle.write(gt.astype("i1"), (7, 11, 2), zarr_format=zarr_format, order="F")
        model.check(array_of(stored.content), gt.astype("i1"))


@pytest.mark.parametrize("codec", ["blosc", "zstd"])
@pytest.mark.parametrize("factors", [((2, 2, 1),), ((1, 2, 1), (2, 1, 1))], ids=["one", "nested"])
def test_shards(codec, factors):
    """Several chunks of variants and of samples in each, one of them absent with all its shard."""
    from zarr.codecs import BloscCodec, ZstdCodec

    compressor = {"blosc": BloscCodec(shuffle="bitshuffle", typesize=1), "zstd": ZstdCodec()}[codec]
    for style in ("phased", "mixed"):
        gt = model.genotypes((100, 150, 2), style)
        gt[50:, 80:] = -1
        stored = oracle.write(
            gt,
            (25, 40, 2),
            zarr_format=3,
            shards=oracle.Shards(factors),
            compressors=compressor,
            fill_value=-1,
            write_empty_chunks=False,
        )
        array = array_of(stored.content)
        assert array.shards == (50, 80, 2)
        model.check(array, gt)
        model.check(array, gt[20:60][:, [3, 90, 149]], variants=slice(20, 60), samples=[3, 90, 149])
        model.check(array, gt[:, [90, 3, 149]], samples=[90, 3, 149])


def test_missing_chunks_are_an_error_where_that_is_asked_for():
    gt = model.genotypes((20, 30, 2), "phased")
    content = model.stored(gt, (10, 30, 2), blosc(), absent={1})
    model.check(array_of(content), gt)
    with pytest.raises(vczc.StoreError, match="not stored"):
        dosage(vczc.open(content, missing="error")["x"])


# ---- Damage


@pytest.mark.parametrize("cname", ["zstd", "lz4"])
@pytest.mark.parametrize("style", ["phased", "mixed"])
def test_damaged_chunks(cname, style):
    """Whatever the bytes, each function says what reading the genotypes says."""
    gt = model.genotypes((40, 100, 2), style)
    content = model.stored(gt, (40, 100, 2), blosc(cname, blocksize=2000))
    good = content["x/0.0.0"]
    rng = np.random.default_rng(1)
    nrefused = nread = 0
    for _ in range(1000):
        bad = bytearray(good)
        if rng.random() < 0.3:
            del bad[rng.integers(0, len(bad)) :]
        for _ in range(rng.integers(1, 4)):
            if bad:
                bad[rng.integers(0, min(len(bad), 4000))] = rng.integers(0, 256)
        content["x/0.0.0"] = bytes(bad)
        array = array_of(content)
        try:
            expected = array[...]
        except vczc.CorruptChunkError:
            nrefused += 1
            for function in (dosage, missing_rate, pack_bed):
                with pytest.raises(vczc.CorruptChunkError) as caught:
                    function(array)
                assert caught.value.array == "x"
                assert caught.value.coords == (0, 0, 0)
            with pytest.raises(vczc.CorruptChunkError):
                allele_counts(array, 128)
        except vczc.UnsupportedError:
            continue
        else:
            nread += 1
            model.check(array, expected)
    assert nrefused > 200
    assert nread > 20


# ---- Out of a VCZ


@pytest.fixture(scope="module")
def vcz(tmp_path_factory):
    path = tmp_path_factory.mktemp("vcz") / "x.vcz"
    rows = [(i // 15, 10 * (i % 15) + 1, 3) for i in range(30)]
    data = variants.write(path, rows, ["20", "21"], samples=["a", "b", "c", "d", "e"])
    return vczc.open(path), data


def test_regions_and_ids(vcz):
    root, data = vcz
    gt = data["call_genotype"]
    rows = variants.overlapping(data, ["20:30-90", "21:1-40"])
    expected = gt[rows][:, [3, 0]]
    model.check(root, expected, region=["20:30-90", "21:1-40"], samples=["d", "a"])
    half = [i for i in range(0, 30, 2) if i in rows]
    model.check(root, gt[half], region=["20:30-90", "21:1-40"], variants=slice(None, None, 2))
    backwards = [i for i in range(29, -1, -1) if i in rows]
    wanted = np.arange(29, -1, -1)
    model.check(root, gt[backwards], region=["20:30-90", "21:1-40"], variants=wanted)
    model.check(root, gt[:0], region="20:1000-2000")
    starts = variants.overlapping(data, ["20:30-90"], "pos")
    model.check(root, gt[starts], region="20:30-90", overlap="pos")


def test_other_fields_and_parts_of_a_stream(vcz):
    root, data = vcz
    gt = data["call_genotype"]
    for part in vczc.stream(root, "call_genotype", samples=["b", "e"]):
        model.check(part, gt[part.index][:, [1, 4]])
    np.testing.assert_array_equal(dosage({"x": gt}, field="x"), model.dosage(gt))


def test_how_many_alleles_there_are(vcz):
    root, data = vcz
    gt = data["call_genotype"]
    assert root["variant_allele"].shape[1] == 2
    rows = np.flatnonzero((gt < 2).all(axis=(1, 2)))
    assert len(rows)
    np.testing.assert_array_equal(
        allele_counts(root, variants=rows), model.allele_counts(gt[rows], 2)
    )
    assert gt.max() == 2
    assert allele_counts(gt).shape == (30, 3)
    assert allele_counts(gt[:0]).shape == (0, 1)
    with pytest.raises(ValueError, match="give nalleles"):
        allele_counts(root["call_genotype"])
    with pytest.raises(ValueError, match=r"allele 2, and nalleles is 2"):
        allele_counts(root)
    with pytest.raises(ValueError, match="nalleles is 0"):
        allele_counts(root, 0)


# ---- What is refused


def test_what_is_no_source(vcz):
    root, _ = vcz
    with pytest.raises(TypeError, match="not from list"):
        dosage([[[0, 1]]])
    with pytest.raises(ValueError, match="there is no 'call_genotype' among 'x'"):
        dosage({"x": np.zeros((1, 1, 2), "i1")})
    with pytest.raises(ValueError, match="float64 of shape"):
        dosage(np.zeros((1, 1, 2)))
    with pytest.raises(ValueError, match="bool of shape"):
        dosage(np.zeros((1, 1, 2), bool))
    with pytest.raises(ValueError, match=r"of shape \(1, 2\)"):
        dosage(np.zeros((1, 2), "i1"))
    with pytest.raises(ValueError, match="'call_DP' holds no genotypes"):
        dosage(root, field="call_DP")
    with pytest.raises(ValueError, match=r"holds no genotypes.*text"):
        dosage(root["sample_id"])
    with pytest.raises(vczc.NodeNotFoundError):
        dosage(root, field="call_genotyp")


def test_selections_that_make_no_sense(vcz):
    root, data = vcz
    with pytest.raises(ValueError, match="nothing of regions"):
        dosage(root["call_genotype"], region="20")
    with pytest.raises(TypeError, match="by its id"):
        dosage(root["call_genotype"], samples=["a"])
    with pytest.raises(ValueError, match="index what is in memory"):
        dosage(data["call_genotype"], samples=[0])
    with pytest.raises(IndexError):
        dosage(root, variants=[30])
    with pytest.raises(IndexError):
        dosage(root, samples=[5])
    with pytest.raises(vczc.UnknownIdError):
        dosage(root, samples="z")
    with pytest.raises(ValueError, match="threads is 0"):
        dosage(root, threads=0)
    with pytest.raises(ValueError, match="per is"):
        missing_rate(root, "samples")


def test_results_that_do_not_fit(vcz):
    root, _ = vcz
    good = np.zeros((30, 5), np.int8)
    for dtype in ("u1", "f2", "U1", ">i4", "?"):
        with pytest.raises(ValueError, match="dosages are int8"):
            dosage(root, dtype)
    with pytest.raises(vczc.BufferError, match="out holds int8"):
        dosage(root, "f4", out=good)
    for out in (good[1:], good.T, good.ravel()):
        with pytest.raises(vczc.BufferError, match="shape"):
            dosage(root, out=out)
    with pytest.raises(vczc.BufferError, match="not bytearray"):
        dosage(root, np.int8, out=bytearray(150))
    locked = good.copy()
    locked.flags.writeable = False
    with pytest.raises(vczc.BufferError, match="read-only"):
        dosage(root, out=locked)
    with pytest.raises(vczc.BufferError, match="repeats"):
        dosage(root, out=np.lib.stride_tricks.as_strided(good, (30, 5), (0, 1)))
    with pytest.raises(vczc.BufferError, match="C-contiguous"):
        pack_bed(root, out=np.zeros((30, 4), "u1")[:, ::2])
    with pytest.raises(vczc.BufferError, match="out holds int8"):
        pack_bed(root, out=np.zeros((30, 2), "i1"))
    with pytest.raises(ValueError, match="ploidy 3"):
        pack_bed(np.zeros((1, 1, 3), "i1"))


def test_out_over_the_genotypes_themselves():
    gt = model.genotypes((50, 60, 2), "mixed")
    expected = model.dosage(gt)
    out = gt[..., 1]
    assert dosage(gt, out=out) is out
    np.testing.assert_array_equal(out, expected)
    gt = model.genotypes((50, 60, 2), "mixed")
    expected = model.dosage(gt)
    out = gt[..., 0]
    dosage({"call_genotype": gt}, out=out)
    np.testing.assert_array_equal(out, expected)


# ---- Threads


def test_other_threads_run_meanwhile():
    gt = np.zeros((4000, 5000, 2), np.int8)
    content = model.stored(gt, (4000, 5000, 2), blosc(clevel=1))
    array = array_of(content)
    for source in (gt, array):
        assert max(turns_during(lambda source=source: dosage(source, threads=1), 20)) > 0


def test_the_same_array_in_many_threads():
    gt = model.genotypes((300, 501, 2), "mixed")
    array = array_of(model.stored(gt, (64, 200, 2), blosc()))
    errors = []

    def work():
        try:
            for _ in range(5):
                model.check(array, gt, threads=3)
        except BaseException as err:
            errors.append(err)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors


def test_no_more_than_a_chunk_is_decoded_at_a_time():
    """Of 200 MB of genotypes, through a codec that has no parts: a chunk of 2 MB."""
    import resource

    gt = np.zeros((100, 1000, 2), np.int8)
    content = model.stored(
        np.broadcast_to(gt[:1], (1000, 1000, 2)).copy(), (1000, 1000, 2), numcodecs.Zstd(1)
    )
    wide = {".zgroup": content[".zgroup"]}
    document = content["x/.zarray"].replace(
        b'"shape": [1000, 1000, 2]', b'"shape": [100000, 1000, 2]'
    )
    assert document != content["x/.zarray"]
    wide["x/.zarray"] = document
    wide.update({f"x/{i}.0.0": content["x/0.0.0"] for i in range(100)})
    array = array_of(wide)
    missing_rate(array, threads=1)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert missing_rate(array, threads=1).sum() == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB


@pytest.mark.parametrize("shape", [[9 * 10**18, 0, 0], [4 * 10**18, 0, 2], [9 * 10**18, 1, 1]])
def test_more_rows_than_anything_has(shape):
    """A description is cheap: no walk over what it claims."""
    document = {
        "zarr_format": 2, "shape": shape, "chunks": [1000, 1, 2], "dtype": "|i1", "order": "C",
        "compressor": None, "filters": None, "fill_value": 0,
    }  # fmt: skip
    array = vczc.open_array({".zarray": json.dumps(document).encode()})
    per_sample = partial(missing_rate, per="sample")
    for function in (dosage, pack_bed, missing_rate, per_sample):
        begin = time.monotonic()
        with contextlib.suppress(MemoryError, ValueError, vczc.UnsupportedError):
            function(array)
        assert time.monotonic() - begin < 10
    if shape[1] != 0:
        with pytest.raises(vczc.UnsupportedError, match="more than can be read"):
            per_sample(array)
