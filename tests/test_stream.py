# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Streams: the rows that NumPy would give, whatever the chunks, the memory and the threads."""

import gc
import os
import subprocess
import sys
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
import stores
import variants
from hypothesis import given, settings
from hypothesis import strategies as st

import vczc

STREAM = sys.modules["vczc.stream"]  # the name in the package is that of the function
N = 103
ROWS = [(0, 10 * i + 1, 1 + i % 4) for i in range(N)]
UNEVEN = {
    "variant_position": 64,
    "variant_contig": 200,
    "variant_length": 24,
    "variant_id": 10,
    "variant_filter": 50,
    "call_genotype": 7,
    "call_DP": 9,
    "call_GT_text": 33,
}
IDS = ["a", "", "c", "d", "e"]


@pytest.fixture(scope="module", params=["uneven v2", "even v3"])
def store(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("stream") / "d"
    chunks, zarr_format = request.param.split()
    data = variants.write(
        path,
        ROWS,
        ["1"],
        chunk=8,
        chunks=UNEVEN if chunks == "uneven" else None,
        samples=IDS,
        zarr_format=int(zarr_format[1]),
    )
    return vczc.open(stores.zipped(path)), data


def gathered(parts, name):
    """All rows of a field; what a part gives is copied before the next is asked for."""
    return np.concatenate([np.array(part[name]) for part in parts])


def assert_rows(stream, data, rows, fields=variants.FIELDS, columns=slice(None)):
    """The stream gives `rows` of each field, each part what it says of itself."""
    got = {name: [] for name in fields}
    index = []
    for part in stream:
        assert list(part) == list(fields)
        assert part.index.dtype == np.int64
        assert len(part.index) > 0
        assert part.start == part.index.min()
        assert part.stop == part.index.max() + 1
        index += part.index.tolist()
        for name in fields:
            assert len(part[name]) == len(part.index)
            assert part[name].flags.writeable
            got[name].append(part[name].copy())
    assert index == list(rows)
    for name in fields:
        if not got[name]:
            continue
        expected = data[name][list(rows)]
        if name.startswith("call_"):
            expected = expected[:, columns]
        found = np.concatenate(got[name])
        assert found.dtype.kind == expected.dtype.kind.replace("O", "T")
        np.testing.assert_array_equal(found.astype(expected.dtype), expected)


SETTINGS = [
    {},
    {"memory": "1 KiB"},
    {"threads": 1},
    {"threads": 3},
    {"reuse": True},
    {"threads": 4, "reuse": True, "memory": 5000},
    {"threads": 1, "reuse": True},
]


@pytest.fixture(params=SETTINGS, ids=str)
def how(request, monkeypatch):
    # So that small stores are cut into jobs as large ones are.
    if "threads" in request.param:
        monkeypatch.setattr(STREAM, "_JOB_NBYTES", 600)
    return request.param


def test_all(store, how):
    root, data = store
    assert_rows(vczc.stream(root, variants.FIELDS, **how), data, range(N))


def test_a_stream_covers_the_rows_in_order(store, how):
    at = 0
    for part in vczc.stream(store[0], variants.FIELDS, **how):
        assert part.start == at
        at = part.stop
    assert at == N


@pytest.mark.parametrize("name", variants.FIELDS)
def test_one_field(store, name):
    root, data = store
    assert_rows(vczc.stream(root, name), data, range(N), [name])
    grid = root[name].chunks[0]
    assert [p.start for p in vczc.stream(root, [name])] == list(range(0, N, grid))


def test_fields_by_default(store):
    names = {*variants.FIELDS, "variant_allele"}
    assert all(set(part) == names for part in vczc.stream(store[0]))


@pytest.mark.parametrize("region", ["1:333-777", "1:1", "1", "1:2000-", ["1:5-50", "1:900-930"]])
def test_region(store, how, region):
    root, data = store
    regions = [region] if isinstance(region, str) else region
    for overlap in ("record", "pos"):
        rows = variants.overlapping(data, regions, overlap)
        stream = vczc.stream(root, variants.FIELDS, region=region, overlap=overlap, **how)
        assert_rows(stream, data, rows)


MASK = np.arange(N) % 5 < 2
CHOICES = [
    (slice(20, 71), range(20, 71)),
    (slice(None, None, 9), range(0, N, 9)),
    (slice(-5, None), range(N - 5, N)),
    (slice(5, 5), []),
    (MASK, np.flatnonzero(MASK)),
    (MASK.tolist(), np.flatnonzero(MASK)),
    ([3, 4, 5, 90], [3, 4, 5, 90]),
    ((1, -1), [1, N - 1]),
    ([70, 3, 3, 4, 69, 5], [70, 3, 3, 4, 69, 5]),
    (np.array([9, 8, 7], np.uint8), [9, 8, 7]),
    (range(40, 50), range(40, 50)),
    (17, [17]),
    ([], []),
]


@pytest.mark.parametrize(("choice", "rows"), CHOICES, ids=[str(c)[:20] for c, _ in CHOICES])
def test_variants(store, how, choice, rows):
    root, data = store
    assert_rows(vczc.stream(root, variants.FIELDS, variants=choice, **how), data, rows)
    inside = set(variants.overlapping(data, ["1:100-650"]))
    stream = vczc.stream(root, variants.FIELDS, variants=choice, region="1:100-650", **how)
    assert_rows(stream, data, [i for i in rows if i in inside])


def test_variants_out_of_range(store):
    with pytest.raises(IndexError, match="103"):
        vczc.stream(store[0], variants=[0, N])
    with pytest.raises(IndexError, match="mask"):
        vczc.stream(store[0], variants=[True])
    with pytest.raises(IndexError, match="step"):
        vczc.stream(store[0], variants=slice(None, None, -1))


SAMPLES = [
    (["e", "a"], [4, 0]),
    ("d", [3]),
    (np.array(["c", "d"]), [2, 3]),
    (np.array(["c", "d"], "S"), [2, 3]),
    ([1, -1, 1], [1, 4, 1]),
    (np.array([True, False, False, True, False]), [0, 3]),
    ([False] * 5, []),
    ([], []),
    (slice(1, None, 2), [1, 3]),
    (range(2, 4), [2, 3]),
]


@pytest.mark.parametrize(("samples", "columns"), SAMPLES, ids=[str(s) for s, _ in SAMPLES])
def test_samples(store, how, samples, columns):
    root, data = store
    stream = vczc.stream(root, variants.FIELDS, samples=samples, **how)
    assert_rows(stream, data, range(N), columns=columns)
    stream = vczc.stream(root, variants.FIELDS, samples=samples, variants=[50, 7, 8], **how)
    assert_rows(stream, data, [50, 7, 8], columns=columns)


def test_samples_that_are_not_there(store):
    root = store[0]
    for wanted, error, match in [
        (["a", "A"], KeyError, "'A'; did you mean|'A'; there are 'a', 'c'"),
        ([""], vczc.Error, "no sample ''"),
        (["a", "a"], ValueError, "twice"),
        ([5], IndexError, "5"),
        ([True], IndexError, "mask"),
        (3, TypeError, "samples"),
        ([1.5], IndexError, "integers"),
    ]:
        with pytest.raises(error, match=match):
            vczc.stream(root, ["call_DP"], samples=wanted)


def test_ids_to_indexes(store):
    root = store[0]
    assert vczc.samples(root, ["e", "a"]).tolist() == [4, 0]
    assert vczc.samples(root, "c").tolist() == [2]
    assert vczc.samples(root, []).tolist() == []
    assert vczc.samples(root, ["d", "x", "a"], ignore_missing=True).tolist() == [3, 0]
    assert vczc.samples(root, ["e", "a"], complement=True).tolist() == [2, 3]
    assert vczc.samples(root, ["x"], complement=True, ignore_missing=True).tolist() == [0, 2, 3, 4]
    assert vczc.samples(root, []).dtype == np.int64
    with pytest.raises(vczc.Error, match="'x'"):
        vczc.samples(root, ["x"], complement=True)
    with pytest.raises(TypeError, match=r"named by its id.* 0:"):
        vczc.samples(root, [0])


def test_two_samples_of_one_id(tmp_path):
    variants.write(tmp_path / "d", ROWS[:3], ["1"], samples=["a", "b", "a"])
    root = vczc.open(tmp_path / "d")
    with pytest.raises(ValueError, match="two samples 'a'"):
        vczc.samples(root, ["b"])
    assert next(vczc.stream(root, "call_DP", samples=[0, 2]))["call_DP"].shape == (3, 2)


@pytest.mark.parametrize("strings", ["object", "bytes"])
def test_text_as_it_was_asked_for(store, strings):
    root = vczc.open(store[0].store, strings=strings)
    kind = {"object": "O", "bytes": "S"}[strings]
    for kwargs in ({}, {"samples": ["a", "e"]}, {"variants": [9, 90, 30]}):
        for part in vczc.stream(root, ["variant_id", "call_GT_text"], **kwargs):
            assert part["variant_id"].dtype.kind == part["call_GT_text"].dtype.kind == kind
            expected = store[1]["variant_id"][part.index]
            assert np.array_equal(part["variant_id"].astype(str), expected.astype(str))


@pytest.mark.parametrize("name", ["filter_id", "sample_id"])
def test_another_axis_is_refused(store, name):
    with pytest.raises(ValueError, match=name):
        vczc.stream(store[0], ["variant_position", name])


def test_wrong_arguments(store):
    root = store[0]
    with pytest.raises(vczc.NodeNotFoundError, match="variant_position"):
        vczc.stream(root, ["variant_positio"])
    with pytest.raises(ValueError, match="no fields"):
        vczc.stream(root, [])
    for memory in ("", "x", "5 XB", -1, "-1"):
        with pytest.raises(ValueError, match="memory"):
            vczc.stream(root, memory=memory)
    with pytest.raises(ValueError, match="threads"):
        vczc.stream(root, threads=0)
    with pytest.raises(TypeError):
        vczc.stream(root, memory=1.5)


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [("1 KiB", 1024), ("2kb", 2000), ("1.5M", 1_500_000), ("7", 7), (" 1GiB ", 1 << 30), (5, 5)],
)
def test_memory(text, nbytes):
    from vczc.stream import nbytes_of

    assert nbytes_of(text) == nbytes


def test_arrays_of_different_lengths_are_refused(tmp_path):
    variants.write(tmp_path / "d", ROWS[:8], ["1"], leave_out=("call_DP",))
    stores.write(tmp_path / "d", "call_DP", np.zeros((9, 3), "i4"), (4, 3))
    root = vczc.open(tmp_path / "d")
    with pytest.raises(vczc.MetadataError, match="call_DP"):
        vczc.stream(root, ["variant_id", "call_DP"])
    with pytest.raises(vczc.MetadataError, match="variant_position"):
        vczc.stream(root, ["call_DP"], region="1:1-9")


def test_without_names_of_axes(tmp_path):
    calls = np.arange(24, dtype="i2").reshape(6, 4)
    stores.write(tmp_path / "d", "call_X", calls, (4, 2))
    stores.write(tmp_path / "d", "variant_X", np.arange(6), (5,))
    root = vczc.open(tmp_path / "d")
    assert gathered(vczc.stream(root), "variant_X").tolist() == list(range(6))
    got = gathered(vczc.stream(root, samples=[3, 0]), "call_X")
    assert np.array_equal(got, calls[:, [3, 0]])


def test_no_variants_and_no_samples(tmp_path):
    variants.write(tmp_path / "d", [], ["1"])
    assert list(vczc.stream(vczc.open(tmp_path / "d"))) == []
    assert list(vczc.stream(vczc.open(tmp_path / "d"), region="1")) == []
    variants.write(tmp_path / "e", ROWS[:5], ["1"], samples=[])
    for part in vczc.stream(vczc.open(tmp_path / "e"), reuse=True):
        assert part["call_genotype"].shape == (len(part.index), 0, 2)


# ---- Memory


def test_parts_stay_as_they_are(store):
    root, data = store
    parts = list(vczc.stream(root, variants.FIELDS, threads=3))
    for a, b in pairwise(parts):
        for name in variants.FIELDS:
            assert not np.shares_memory(a[name], b[name])
            b[name][...] = b[name][:1]
    assert np.array_equal(parts[0]["call_DP"], data["call_DP"][: len(parts[0].index)])


def test_reuse(store, monkeypatch):
    parts = vczc.stream(store[0], ["call_genotype"], reuse=True, threads=1)
    assert len({part["call_genotype"].ctypes.data for part in parts}) == 1


def watched(path):
    """The store as a mapping, and the list of keys that were asked for."""
    asked = []

    class Asked(dict):
        def __getitem__(self, key):
            asked.append(key)
            return super().__getitem__(key)

    return vczc.open(Asked(stores.mapped(path))), asked


def test_a_chunk_that_many_parts_need_is_decoded_once(tmp_path):
    chunks = {"variant_id": 12, "call_genotype": 4}
    variants.write(tmp_path / "d", ROWS, ["1"], chunks=chunks, samples=["s"] * 64)
    root, asked = watched(tmp_path / "d")
    for threads in (1, 3):
        parts = vczc.stream(root, ["variant_id", "call_genotype"], threads=threads)
        asked.clear()
        assert len(list(parts)) == 26
        names = [key.partition("/")[0] for key in asked]
        assert names.count("variant_id") == 9
        assert names.count("call_genotype") == 26 * 32


def test_only_chunks_that_are_needed_are_read(tmp_path):
    variants.write(tmp_path / "d", ROWS, ["1"], chunk=10)
    root, asked = watched(tmp_path / "d")
    stream = vczc.stream(root, ["call_DP"], variants=[5, 55], samples=[2])
    asked.clear()
    assert len(list(stream)) == 2
    assert [key for key in asked if "call_DP" in key and key[-1].isdigit()] == [
        "call_DP/0.1",
        "call_DP/5.1",
    ]


def test_what_is_decoded_ahead_is_bounded(tmp_path):
    path = tmp_path / "d"
    dims = {"attributes": {"_ARRAY_DIMENSIONS": ["variants", "samples"]}}
    stores.write(path, "call_X", np.zeros((200, 5000), "i4"), (2, 5000), **dims)
    root = vczc.open(path)
    part_nbytes = 2 * 5000 * 4
    for memory, most in ((0, 1), (part_nbytes * 9, 9), (part_nbytes * 40, 40)):
        stream = vczc.stream(root, ["call_X"], memory=memory, threads=3)
        next(stream)
        time.sleep(0.1)
        nparts = 1 + len(stream._ready) + sum(len(job._tasks) for job in stream._pending)
        assert 0 < nparts <= most
        stream.close()


@pytest.mark.parametrize("samples", [slice(7, 9), [7, 4000, 9]], ids=str)
def test_work_is_shared_by_what_is_decompressed(tmp_path, samples):
    """A few columns of wide chunks are small parts, and as much work as all columns."""
    dims = {"attributes": {"_ARRAY_DIMENSIONS": ["variants", "samples"]}}
    calls = np.arange(40 * 5000, dtype="i4").reshape(40, 5000)
    stores.write(tmp_path / "d", "call_X", np.tile(calls, (8, 1)), (80, 5000), **dims)
    root = vczc.open(tmp_path / "d")
    stream = vczc.stream(root, ["call_X"], samples=samples, threads=2)
    first = next(stream)["call_X"]
    assert np.array_equal(first, np.tile(calls, (2, 1))[:, samples])
    assert [len(job._tasks) for job in stream._pending] == [1] * 3
    stream.close()
    # Where places are picked, whole chunks are in memory meanwhile: within the budget one is.
    stream = vczc.stream(root, ["call_X"], samples=samples, threads=2, memory=2_000_000)
    next(stream)
    assert len(stream._pending) == (3 if isinstance(samples, slice) else 0)
    stream.close()


# ---- Failures, threads and processes


@pytest.mark.parametrize("threads", [1, 3])
def test_a_damaged_chunk_is_an_error_in_its_turn(tmp_path, threads, monkeypatch):
    monkeypatch.setattr(STREAM, "_JOB_NBYTES", 1)
    variants.write(tmp_path / "d", ROWS, ["1"], chunk=10)
    (tmp_path / "d" / "call_DP" / "5.0").write_bytes(b"damaged")
    stream = vczc.stream(vczc.open(tmp_path / "d"), ["call_DP"], threads=threads)
    starts = []
    with pytest.raises(vczc.CorruptChunkError, match="call_DP"):
        starts.extend(part.start for part in stream)
    assert starts == [] or starts == [0, 10, 20, 30, 40]
    with pytest.raises(StopIteration):
        next(stream)
    assert not workers()


def workers():
    return [t for t in threading.enumerate() if t.name.startswith("vczc-stream")]


def soon(condition):
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_workers_end_with_the_stream(store, monkeypatch):
    monkeypatch.setattr(STREAM, "_JOB_NBYTES", 1)
    stream = vczc.stream(store[0], variants.FIELDS, threads=3)
    part = next(stream)
    kept = part["call_DP"].copy()
    assert workers()
    stream.close()
    assert not workers()
    stream.close()
    assert next(stream, None) is None
    assert np.array_equal(part["call_DP"], kept)
    with vczc.stream(store[0], variants.FIELDS, threads=3) as other:
        next(other)
    assert not workers()
    assert len(list(vczc.stream(store[0], ["call_DP"], threads=3))) > 1
    assert soon(lambda: not workers())


def test_workers_end_where_a_loop_is_left(store, monkeypatch):
    monkeypatch.setattr(STREAM, "_JOB_NBYTES", 1)
    for _ in vczc.stream(store[0], variants.FIELDS, threads=3):
        break
    gc.collect()
    assert soon(lambda: not workers())


def test_streams_side_by_side(store):
    root, data = store
    faults = []

    def check():
        try:
            for _ in range(5):
                assert_rows(vczc.stream(root, variants.FIELDS, threads=2), data, range(N))
        except BaseException as err:
            faults.append(err)

    threads = [threading.Thread(target=check) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not faults


CHILD = """
import os, sys
import numpy as np
import vczc
from vczc.stream import Stream
sys.modules["vczc.stream"]._JOB_NBYTES = 1
root = vczc.open(sys.argv[1])
fields = ["variant_id", "variant_position", "call_genotype", "call_GT_text"]
"""


def child(code, path):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", CHILD + code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("reuse", [False, True])
def test_fork_in_the_middle(store, reuse):
    code = f"""
expected = root["call_genotype"][...].tobytes()
for k in range(20):
    stream = vczc.stream(root, fields, threads=4, reuse={reuse})
    got = [next(stream)["call_genotype"].tobytes() for _ in range(k % 4 + 1)]
    pid = os.fork()
    got += [part["call_genotype"].tobytes() for part in stream]
    assert b"".join(got) == expected
    if pid == 0:
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
print("done")
"""
    assert child(code, store[0].store.location) == "done\n"


def test_exit_in_the_middle(store):
    code = """
streams = [vczc.stream(root, fields, threads=4) for _ in range(5)]
for stream in streams:
    next(stream)
print("done")
"""
    assert child(code, store[0].store.location) == "done\n"


# ---- Anything


@settings(max_examples=60)
@given(
    st.data(),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([0, 3000, 1 << 20]),
    st.booleans(),
    st.sampled_from([1, 500, 1 << 20]),
)
def test_any_selection(store, data, threads, memory, reuse, job_nbytes):
    root, expected = store
    row = st.integers(-N, N - 1)
    rows = data.draw(
        st.one_of(
            st.none(),
            st.lists(row, max_size=12),
            st.lists(row, max_size=30, unique=True).map(lambda x: sorted(i % N for i in x)),
            st.builds(slice, st.none() | row, st.none() | row, st.none() | st.integers(1, 40)),
        )
    )
    fields = data.draw(st.lists(st.sampled_from(variants.FIELDS), min_size=1, unique=True))
    columns = data.draw(st.none() | st.lists(st.integers(-5, 4), max_size=6))
    region = data.draw(st.none() | st.sampled_from(["1:200-500", "1:400-", "1:99", "1:2000"]))
    numbers = np.arange(N)[
        slice(None) if rows is None else np.array(rows, int) if rows == [] else rows
    ]
    if region is not None:
        inside = set(variants.overlapping(expected, [region]))
        numbers = [i for i in numbers.tolist() if i in inside]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(STREAM, "_JOB_NBYTES", job_nbytes)
        stream = vczc.stream(
            root,
            fields,
            region=region,
            variants=rows,
            samples=columns,
            threads=threads,
            memory=memory,
            reuse=reuse,
        )
        of = slice(None) if columns is None else columns
        assert_rows(stream, expected, list(numbers), fields, of)


def test_a_second_loop_is_refused(store):
    stream = vczc.stream(store[0], "call_DP")
    first = next(stream)
    assert first.start == 0
    assert next(iter(stream)).start == first.stop  # a loop that was left may go on
    assert list(stream)
    assert next(stream, None) is None
    with pytest.raises(ValueError, match="another"):
        list(stream)
    closed = vczc.stream(store[0], "call_DP")
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        iter(closed)


def test_what_is_no_group_or_no_name(store):
    root = store[0]
    for wrong in (root["call_DP"], "path", None):
        with pytest.raises(TypeError, match="a group"):
            vczc.stream(wrong)
        with pytest.raises(TypeError, match="a group"):
            vczc.stream(wrong, "call_DP")
    with pytest.raises(TypeError, match="fields"):
        vczc.stream(root, 3)
    with pytest.raises(TypeError, match="region"):
        vczc.stream(root, "call_DP", region=20)
    with pytest.raises(TypeError, match="samples"):
        vczc.stream(root, "call_DP", samples=3)
