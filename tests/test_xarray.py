# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The engine "vczc" of xarray, with xarray's engine "zarr" and NumPy as the judges."""

import asyncio
import multiprocessing
import pickle
import re
import threading
from importlib.metadata import entry_points
from pathlib import Path

import dask
import numpy as np
import oracle
import pytest
import stores
import strategies
import xarray as xr
import zarr
from hypothesis import given
from hypothesis import strategies as st
from xarray import conventions
from xarray.core import indexing

import vczc
from vczc.xarray_backend import VczcArray, VczcBackendEntrypoint

RNG = np.random.default_rng(1)
GENOTYPES = RNG.integers(-2, 3, (40, 6, 2)).astype("i1")
FIELDS = {
    "call_genotype": (GENOTYPES, (16, 4, 2), ("variants", "samples", "ploidy"), -1),
    "variant_position": (np.arange(40, dtype="i4"), (16,), ("variants",), 0),
    "variant_quality": (RNG.random(40).astype("f4"), (40,), ("variants",), np.nan),
    "variant_flag": (RNG.random(40) < 0.5, (7,), ("variants",), False),
    "variant_allele": (
        np.array([["A", "ACGT"], ["ü", ""]] * 20, object),
        (16, 2),
        ("variants", "alleles"),
        "",
    ),
    "sample_id": (np.array([f"S{i}" for i in range(6)], object), (6,), ("samples",), ""),
    "variants": (np.arange(100, 140), (16,), ("variants",), 0),  # the coordinate of its dimension
    "one": (np.array(7), (), (), 0),
}


def named(dims, zarr_format):
    if zarr_format == 3:
        return {"dimension_names": dims or None, "attributes": {"description": "d"}}
    return {"attributes": {"_ARRAY_DIMENSIONS": list(dims), "description": "d"}}


def written(root, zarr_format):
    zarr.open_group(
        str(root),
        mode="w",
        zarr_format=zarr_format,
        attributes={"source": "a test", "vcf_zarr_version": "0.4", "_NCProperties": "hidden"},
    )
    for name, (data, chunks, dims, fill) in FIELDS.items():
        more = named(dims, zarr_format)
        stores.write(root, name, data, chunks, zarr_format=zarr_format, fill_value=fill, **more)
    return root


@pytest.fixture(scope="module", params=stores.FORMATS)
def root(request, tmp_path_factory):
    return written(tmp_path_factory.mktemp("xarray") / "data.zarr", request.param)


@pytest.fixture(scope="module")
def v2(tmp_path_factory):
    return written(tmp_path_factory.mktemp("v2") / "data.zarr", 2)


def opened(source, **options):
    return xr.open_dataset(source, engine="vczc", **options)


def by_zarr(root, **options):
    return xr.open_zarr(root, consolidated=False, chunks=None, **options)


def assert_same_values(got, expected):
    """Text may be of any type."""
    if expected.dtype.kind in "OT" or got.dtype.kind in "OT":
        assert got.dtype == object
        assert got.shape == expected.shape
        assert got.tolist() == expected.astype(object).tolist()
    else:
        oracle.assert_same(got, expected)


def test_entry_point():
    """Of an installed package, or of `./dev build`."""
    (found,) = entry_points(group="xarray.backends", name="vczc")
    assert found.load() is VczcBackendEntrypoint
    assert "vczc" in xr.backends.list_engines()


@pytest.mark.parametrize("kind", stores.KINDS)
def test_equals_the_engine_zarr(root, kind):
    got = opened(stores.source(root, kind))
    expected = by_zarr(root, mask_and_scale=False)
    assert set(got.variables) == set(expected.variables)
    assert set(got.coords) == set(expected.coords) == {"variants"}
    assert dict(got.sizes) == dict(expected.sizes)
    assert got.attrs == expected.attrs
    assert got.attrs == {"source": "a test", "vcf_zarr_version": "0.4"}
    for name, variable in expected.variables.items():
        mine = got.variables[name]
        assert mine.dims == variable.dims
        # To which the engine zarr adds the fill value of format 2, that a file would be masked by.
        assert mine.attrs == {k: v for k, v in variable.attrs.items() if k != "_FillValue"}
        if name not in got.indexes:
            assert mine.encoding["chunks"] == FIELDS[name][1]
        for key in ("chunks", "preferred_chunks"):
            if key in variable.encoding:  # not of text, in old versions
                assert mine.encoding[key] == variable.encoding[key]
        assert_same_values(mine.values, variable.values)


def test_integers_stay_integers(root):
    ds = opened(root)
    assert ds["call_genotype"].dtype == np.int8
    assert ds["variant_position"].dtype == np.int32
    assert ds["variant_position"].values[0] == 0
    assert ds["variant_flag"].dtype == bool
    np.testing.assert_array_equal(ds["call_genotype"].values, GENOTYPES)


def test_mask_and_scale_as_the_engine_zarr(root):
    got, expected = opened(root, mask_and_scale=True), by_zarr(root, mask_and_scale=True)
    for name, variable in expected.variables.items():
        if variable.dtype.kind not in "OT":
            oracle.assert_same(got.variables[name].values, variable.values)
    some = opened(root, mask_and_scale={"call_genotype": False})
    assert some["call_genotype"].dtype == np.int8
    assert "_FillValue" not in some["call_genotype"].attrs
    assert some["variant_position"].dtype == got["variant_position"].dtype


def test_fill_value_attribute_of_format_3(tmp_path):
    """As xarray writes it, in base 64."""
    values = np.array([1.5, np.nan, 3.0])
    xr.Dataset({"x": ("n", values, {}, {"_FillValue": -1.0})}).to_zarr(
        tmp_path / "x", zarr_format=3, consolidated=False
    )
    assert opened(tmp_path / "x")["x"].values.tolist() == [1.5, -1.0, 3.0]
    masked = opened(tmp_path / "x", mask_and_scale=True)["x"]
    np.testing.assert_array_equal(masked.values, values)
    assert masked.encoding["_FillValue"] == -1.0


def test_times_and_characters(tmp_path):
    days, letters = np.arange(3), np.array([b"a", b"b", b"c"], "S1")
    dims = {"_ARRAY_DIMENSIONS": ["n"]}
    stores.write(tmp_path, "day", days, (2,), attributes={**dims, "units": "days since 2001-01-01"})
    stores.write(tmp_path, "letter", letters, (2,), attributes={"_ARRAY_DIMENSIONS": ["m"]})
    ds = opened(tmp_path)
    assert ds["day"].values[2] == np.datetime64("2001-01-03")
    assert ds["letter"].values.tolist() == letters.tolist()
    raw = opened(tmp_path, decode_times=False)
    assert raw["day"].values.tolist() == [0, 1, 2]
    assert opened(tmp_path, decode_cf=False)["day"].values.tolist() == [0, 1, 2]
    assert opened(tmp_path, concat_characters=True)["letter"].values == b"abc"


# ---- Text ----


def test_text(root):
    ds = opened(root)
    alleles = FIELDS["variant_allele"][0]
    assert ds["variant_allele"].dtype == object
    assert ds["variant_allele"].dtype.metadata == {"element_type": str}
    assert ds["variant_allele"].values.tolist() == alleles.tolist()
    assert type(ds["variant_allele"].values[0, 0]) is str
    assert ds["variant_allele"][3, 0].item() == alleles[3, 0]
    by_id = ds.set_index(samples="sample_id").sel(samples=["S4", "S0"])
    np.testing.assert_array_equal(by_id["call_genotype"].values, GENOTYPES[:, [4, 0]])
    lazily = opened(root, chunks={})["variant_allele"]
    assert lazily.compute().values.tolist() == alleles.tolist()


@pytest.mark.parametrize("chunks", [None, {}])
def test_written_by_zarr_python_again(root, tmp_path, chunks):
    ds = opened(root, chunks=chunks)
    ds.to_zarr(tmp_path / "again", consolidated=False)
    again = opened(tmp_path / "again")
    assert again.attrs == ds.attrs
    for name in FIELDS:
        assert_same_values(again[name].values, ds[name].values)
        assert again[name].encoding["chunks"] == ds[name].encoding["chunks"]


@pytest.mark.parametrize("chunks", [None, {}])
def test_encoded_for_netcdf(root, chunks):
    """Without a trace of fill values, by which the file would be masked when it is read."""
    variables = opened(root, chunks=chunks).variables
    encoded, _ = conventions.cf_encoder(variables, {})
    for name, (data, *_) in FIELDS.items():
        assert "_FillValue" not in encoded[name].attrs or data.dtype.kind == "f"
        if data.dtype.kind == "O":
            assert encoded[name].dtype == object
        else:
            assert encoded[name].dtype == (np.int8 if data.dtype == bool else data.dtype)


# ---- Indexing ----


def keys_of(n):
    """What xarray gives along an axis: ints, slices of any step, arrays of any order."""
    end = st.none() | st.integers(-n - 2, n + 2)
    steps = st.none() | st.integers(1, n + 2) | st.integers(-n - 2, -1)
    slices = st.builds(slice, end, end, steps)
    return strategies.ints(n) | slices | strategies.index_arrays(n)


# Of times xarray's own arrays have other units.
DTYPES = st.sampled_from([d for d in oracle.DTYPES if "m8" not in d.lower()])


@strategies.many
@given(stored=strategies.stored_arrays(DTYPES), data=st.data())
def test_any_orthogonal_selection(stored, data):
    """As `isel` does it, twice in a row."""
    array = vczc.open(stored.content)["x"]
    dims = [f"d{i}" for i in range(array.ndim)]
    got = xr.DataArray(xr.Variable(dims, indexing.LazilyIndexedArray(VczcArray(array))))
    expected = xr.DataArray(stored.whole, dims=dims)
    for _ in range(2):
        keys = {dim: data.draw(keys_of(n)) for dim, n in expected.sizes.items()}
        got, expected = got.isel(keys), expected.isel(keys)
        assert got.shape == expected.shape
    assert_same_values(got.values, expected.values)


@strategies.many
@given(seed=st.integers(0, 1 << 30), data=st.data())
def test_any_vectorized_selection(v2, seed, data):
    got, expected = opened(v2)["call_genotype"], by_zarr(v2, mask_and_scale=False)["call_genotype"]
    rng = np.random.default_rng(seed)
    n = data.draw(st.integers(0, 5))
    points = {
        "variants": xr.DataArray(rng.integers(-40, 40, (n, 2)), dims=("p", "q")),
        "samples": xr.DataArray(rng.integers(0, 6, n), dims="p"),
        "ploidy": data.draw(keys_of(2)),
    }
    if isinstance(points["ploidy"], slice) and not range(2)[points["ploidy"]]:
        points["ploidy"] = slice(0, 0)  # of which the engine zarr makes an error
    oracle.assert_same(got.isel(points).values, expected.isel(points).values)


@pytest.mark.parametrize(
    "key", [slice(5, 5), slice(5, 2), slice(2, 5, -1), slice(None, None, -1), np.array([], int)]
)
def test_empty_and_backward(root, key):
    np.testing.assert_array_equal(
        opened(root)["call_genotype"].isel(variants=key).values, GENOTYPES[key]
    )


def test_nothing_is_read_before_it_is_asked_for(root):
    """And no more than that."""
    content = Counting(stores.mapped(root))
    ds = opened(content)
    chosen = ds["call_genotype"].isel(variants=slice(20, 30), samples=[5])
    before = content.nchunks
    np.testing.assert_array_equal(chosen.values, GENOTYPES[20:30, [5]])
    assert content.nchunks - before == 1


class Counting(dict):
    nchunks = 0

    def __getitem__(self, key):
        self.nchunks += key.startswith("call_genotype/") and key[-1].isdigit()
        return super().__getitem__(key)


def test_loaded_by_an_event_loop(root):
    ds = opened(root)
    if hasattr(ds, "load_async"):  # of xarray 2025.8
        asyncio.run(ds.load_async())
    else:
        data = VczcArray(vczc.open(root)["call_genotype"])
        key = indexing.BasicIndexer((slice(None),) * 3)
        oracle.assert_same(asyncio.run(data.async_getitem(key)), GENOTYPES)
    np.testing.assert_array_equal(ds["call_genotype"].values, GENOTYPES)


# ---- dask ----


@pytest.mark.parametrize("kind", stores.KINDS)
def test_dask_chunks_are_those_of_the_store(root, kind):
    ds = opened(stores.source(root, kind), chunks={})
    assert ds["call_genotype"].chunks == ((16, 16, 8), (4, 2), (2,))
    assert ds["variant_position"].chunks == ((16, 16, 8),)
    for scheduler in ("threads", "synchronous"):
        got = ds["call_genotype"].sum(["samples", "ploidy"]).compute(scheduler=scheduler)
        np.testing.assert_array_equal(got.values, GENOTYPES.sum((1, 2)))


def test_dask_chunks_that_are_asked_for(root):
    others = set(FIELDS) - {"call_genotype"}  # they have chunks of their own
    wide = opened(root, chunks={"variants": 32}, drop_variables=others)["call_genotype"]
    assert wide.chunks == ((32, 8), (4, 2), (2,))
    assert opened(root, chunks=-1)["call_genotype"].chunks == ((40,), (6,), (2,))
    with dask.config.set({"array.chunk-size": "300B"}):
        auto = opened(root, chunks="auto", drop_variables=others)["call_genotype"]
    assert auto.chunks[0][0] % 16 == 0
    with pytest.raises(NotImplementedError, match="object dtype"):  # by dask, of text
        opened(root, chunks="auto")
    np.testing.assert_array_equal(auto.values, GENOTYPES)


def test_shards(tmp_path):
    """dask reads inner chunks."""
    group = zarr.open_group(tmp_path, mode="w", zarr_format=3)
    group.create_array(
        "x", shape=(10,), chunks=(2,), shards=(4,), dtype="i2", dimension_names=["n"]
    )[...] = np.arange(10)
    ds, expected = opened(tmp_path, chunks={}), by_zarr(tmp_path, mask_and_scale=False)
    assert ds["x"].chunks == ((2,) * 5,)
    assert ds["x"].encoding["shards"] == expected["x"].encoding["shards"] == (4,)
    assert ds["x"].values.tolist() == list(range(10))


def test_empty_axis(tmp_path):
    """Whose chunks some writers give the length 0."""
    path = tmp_path / "x"
    stores.write(tmp_path, "x", np.zeros((0, 3), "i2"), (1, 2), **named(("n", "m"), 2))
    text = (path / ".zarray").read_text()
    (path / ".zarray").write_text(re.sub(r'("chunks": \[\s*)1', r"\g<1>0", text))
    assert vczc.open(tmp_path)["x"].chunks == (0, 2)
    for chunks in (None, {}):
        assert opened(tmp_path, chunks=chunks)["x"].values.shape == (0, 3)


def test_open_mfdataset(root, tmp_path):
    parts = [stores.zipped(root), root]
    ds = xr.open_mfdataset(
        parts, engine="vczc", combine="nested", concat_dim="variants", data_vars="minimal",
        coords="minimal", compat="override", join="outer",
    )  # fmt: skip
    np.testing.assert_array_equal(
        ds["call_genotype"].values, np.concatenate([GENOTYPES, GENOTYPES])
    )
    ds.close()


# ---- Threads, processes, closing ----


def test_many_threads_share_a_dataset(root):
    ds = opened(root, cache=False)
    faults = []

    def read(seed):
        rng = np.random.default_rng(seed)
        for _ in range(50):
            rows = rng.integers(0, 40, 5)
            if not np.array_equal(ds["call_genotype"].isel(variants=rows).values, GENOTYPES[rows]):
                faults.append(rows)
            ds["variant_allele"].values[0, 0]

    threads = [threading.Thread(target=read, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


@pytest.mark.parametrize("kind", stores.KINDS)
@pytest.mark.parametrize("chunks", [None, {}])
def test_pickle(root, kind, chunks):
    ds = opened(stores.source(root, kind), chunks=chunks)
    again = pickle.loads(pickle.dumps(ds))
    for name, (data, *_) in FIELDS.items():
        assert_same_values(again[name].values, data)


def test_spawned_process(root):
    ds = opened(root, chunks={})
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(np.asarray, (ds["call_genotype"].data,)).tolist() == GENOTYPES.tolist()
        lazily = opened(root)["variant_allele"]
        assert pool.apply(np.asarray, (lazily,)).tolist() == lazily.values.tolist()


def test_close_closes_a_store_of_its_own(root):
    with opened(root) as ds:
        store = ds.variables["one"]._data.array.array.array._array.store
        assert not store.closed
    assert store.closed
    with vczc.DirectoryStore(root) as mine:
        opened(mine).close()
        assert not mine.closed
        np.testing.assert_array_equal(opened(mine)["variant_position"].values, np.arange(40))


def test_an_error_closes_the_store(tmp_path, monkeypatch):
    stores.write(tmp_path, "x", np.arange(3), (2,))
    closed = []
    monkeypatch.setattr(vczc.DirectoryStore, "close", lambda self: closed.append(self))
    for open_it in (opened, lambda p: xr.open_datatree(p, engine="vczc")):
        with pytest.raises(KeyError):
            open_it(tmp_path)
    assert len(closed) == 2


# ---- Groups ----


@pytest.fixture(scope="module", params=stores.FORMATS)
def nested(request, tmp_path_factory):
    root = tmp_path_factory.mktemp("nested") / "tree.zarr"
    for path, n in (("", 3), ("a", 4), ("a/b", 5)):
        where = root / path
        group = zarr.open_group(
            str(root), path=path, mode="a", zarr_format=request.param, attributes={"n": n}
        )
        assert group.attrs["n"] == n
        more = named((f"d{n}",), request.param)
        stores.write(where, f"x{n}", np.arange(n), (2,), zarr_format=request.param, **more)
    return root


def test_group(nested):
    ds = opened(nested, group="a/b")
    assert ds["x5"].values.tolist() == [0, 1, 2, 3, 4]
    assert ds.attrs == {"n": 5}
    with pytest.raises(vczc.NodeNotFoundError, match="there are 'a'"):
        opened(nested, group="c")
    with pytest.raises(vczc.NodeNotFoundError, match="not a group"):
        opened(nested, group="a/x4")


@pytest.mark.parametrize("chunks", [None, {}])
def test_datatree(nested, chunks):
    got = xr.open_datatree(nested, engine="vczc", chunks=chunks)
    expected = xr.open_datatree(nested, engine="zarr", consolidated=False, mask_and_scale=False)
    assert got.groups == expected.groups == ("/", "/a", "/a/b")
    assert got["a/b"].attrs == {"n": 5}
    for path, name in (("/", "x3"), ("/a", "x4"), ("/a/b", "x5")):
        np.testing.assert_array_equal(got[path][name].values, expected[path][name].values)
    got.close()
    below = xr.open_datatree(nested, engine="vczc", group="a")
    assert below.groups == ("/", "/b")
    assert set(xr.open_groups(nested, engine="vczc")) == {"/", "/a", "/a/b"}


# ---- What cannot be opened ----


@pytest.mark.parametrize("zarr_format", stores.FORMATS)
def test_names_of_dimensions_are_needed(tmp_path, zarr_format):
    """As the engine zarr says; here what lacks them can be left out."""
    stores.write(tmp_path, "x", np.arange(3), (2,), zarr_format=zarr_format)
    stores.write(
        tmp_path, "y", np.arange(3), (2,), zarr_format=zarr_format, **named("n", zarr_format)
    )
    where = "_ARRAY_DIMENSIONS" if zarr_format == 2 else "dimension_names"
    with pytest.raises((KeyError, TypeError, ValueError)):  # by its version
        by_zarr(tmp_path)
    with pytest.raises(KeyError, match=f"'/x' has 1 dim.*{where}") as caught:
        opened(tmp_path)
    assert caught.value.__notes__ == ["to open the others: drop_variables=['x']"]
    for dropped in ("x", ["x"], iter(["x"])):
        assert list(opened(tmp_path, drop_variables=dropped)) == ["y"]


def test_some_names_are_not_all(tmp_path):
    stores.write(
        tmp_path, "x", np.zeros((3, 2)), (2, 2), zarr_format=3, dimension_names=["n", None]
    )
    with pytest.raises(KeyError, match="has 2 dimensions"):
        opened(tmp_path)


def test_arrays_that_are_not_read_can_be_left_out(root, tmp_path):
    content = stores.mapped(root)
    key = next(k for k in content if k.startswith("one/") and k.endswith((".zarray", "zarr.json")))
    content[key] = re.sub(rb'"(int64|<i8)"', b'"no_such_type"', content[key])
    with pytest.raises(vczc.Error) as caught:
        opened(content)
    assert "drop_variables=['one']" in caught.value.__notes__[0]
    ds = opened(content, drop_variables=["one", "no such variable"])
    assert set(ds.variables) == set(FIELDS) - {"one"}


def test_options_of_vczc_open(root, tmp_path):
    content = stores.mapped(root)
    del content[next(k for k in content if re.search(r"variant_position/(c/)?1$", k))]
    assert opened(content)["variant_position"].values[16:32].tolist() == [0] * 16
    with pytest.raises(vczc.Error, match="variant_position"):
        opened(content, missing="error")["variant_position"].load()
    with pytest.raises(vczc.Error, match="bytes"):
        opened(content, max_chunk_bytes=8)["call_genotype"].load()
    assert opened(stores.zipped(root), verify=True)["one"].values == 7
    with pytest.raises(ValueError, match="storage_options are for URLs"):
        opened(root, storage_options={"region": "x"})
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "nothing")
    with pytest.raises(TypeError, match="unexpected keyword"):
        opened(root, no_such_option=1)


def test_home(root, monkeypatch):
    monkeypatch.setenv("HOME", str(root.parent))
    monkeypatch.setenv("USERPROFILE", str(root.parent))
    assert opened(f"~/{root.name}")["one"].values == 7


# ---- Guessing ----


@pytest.fixture
def guess(monkeypatch):
    return VczcBackendEntrypoint().guess_can_open


def test_names_that_are_ours(guess, tmp_path):
    """By name alone, of what need not be there and may lie elsewhere."""
    for name in ("a.vcz", "a.vcz/", "A.VCZ.ZIP", "a.zarr.zip", "s3://bucket/a.vcz.zip"):
        assert guess(name), name
        assert guess(Path(name))
    for name in ("a.zarr", "a.zip", "a.nc", "", "\0", "https://host/a.zip", "~nobody/x"):
        assert not guess(name), name


def test_what_is_a_vcz_is_ours_unless_its_name_is_not(guess, root, tmp_path):
    bare = tmp_path / "cohort"
    bare.symlink_to(root)
    assert guess(bare)
    assert guess(str(bare))
    assert not guess(root)  # its name is data.zarr
    archive = stores.zipped(root).rename(tmp_path / "download")
    assert guess(archive)
    assert xr.open_dataset(archive)["call_genotype"].dtype == np.int8
    assert xr.open_dataset(bare)["call_genotype"].dtype == np.int8
    with vczc.open(root).store as store:
        assert guess(store)


def test_what_is_no_vcz_is_not_ours(guess, tmp_path):
    stores.write(tmp_path / "other", "x", np.arange(3), (2,))
    assert not guess(tmp_path / "other")
    assert not guess(stores.zipped(tmp_path / "other"))
    for content in (b"", b"PK\3\4", b"PK\3\4" + bytes(100), b"CDF\1"):
        (tmp_path / "file").write_bytes(content)
        assert not guess(tmp_path / "file")
    assert not guess(tmp_path)
    for other in (b"CDF\1", {"zarr.json": b""}, None, 3, memoryview(b"")):
        assert not guess(other)
