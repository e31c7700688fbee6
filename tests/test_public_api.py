# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The names that users rely on, and what importing them costs."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import vczc

ROOT = Path(__file__).resolve().parent.parent

# A name that goes is a breaking change; one that comes is a promise.
READING = {
    "Array",
    "Blocks",
    "BufferError",
    "CorruptChunkError",
    "DirectoryStore",
    "Error",
    "Group",
    "MemoryStore",
    "MetadataError",
    "NodeNotFoundError",
    "StoreError",
    "StoreNotFoundError",
    "UnknownIdError",
    "UnsupportedError",
    "ZipStore",
    "__version__",
    "get_include",
    "get_library_dir",
    "is_fill",
    "is_missing",
    "open",
    "open_array",
    "open_group",
    "region",
    "samples",
    "set_buffer_pool",
    "set_threads",
    "stream",
    "to_arrow",
}


def test_a_checkout_that_is_not_built_says_so(tmp_path):
    """Its folder is found before the vczc that is installed."""
    (tmp_path / "vczc").mkdir()
    for path in (ROOT / "vczc").glob("*.py"):
        (tmp_path / "vczc" / path.name).write_bytes(path.read_bytes())
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", "import vczc"], capture_output=True, text=True, env=environment
    )
    assert found.returncode == 1
    assert "ImportError: " + str(tmp_path / "vczc") in found.stderr
    assert "./dev build" in found.stderr


def test_all_holds_the_names():
    assert set(vczc.__all__) >= READING
    for name in vczc.__all__:
        assert hasattr(vczc, name), name


@pytest.mark.parametrize("name", ["vczc", "vczc.genotypes", "vczc.zarr"])
def test_dir_shows_what_is_public(name):
    module = importlib.import_module(name)
    assert set(dir(module)) == set(module.__all__)
    assert all(getattr(module, public).__doc__ for public in dir(module))


STORE = "fetch_metadata fetch_attrs fetch_chunk fetch keys close closed location"
NAMES = {
    vczc.Array: (
        "name path basename store attrs metadata zarr_format shape chunks ndim size dtype itemsize "
        "nbytes order fill_value dims shards cdata_shape nchunks chunk_size compressor filters "
        "codecs nbytes_stored nchunks_initialized blocks oindex read info"
    ),
    vczc.Group: (
        "attrs store path name basename zarr_format arrays groups array_keys group_keys tree info "
        "keys values items get"
    ),
    vczc.Blocks: "shape read stored strings prefetch select array",
    vczc.DirectoryStore: STORE,
    vczc.ZipStore: STORE,
    vczc.MemoryStore: STORE,
}


@pytest.mark.parametrize("cls", NAMES)
def test_public_names_of_a_class(cls):
    assert {name for name in dir(cls) if not name.startswith("_")} == set(NAMES[cls].split())


def test_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", vczc.__version__)


def test_import_loads_numpy_only():
    code = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "import vczc\n"
        "new = {m.partition('.')[0] for m in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names) - {'vczc'}))\n"
        "print([m for m in ('asyncio', 'concurrent', 'importlib.metadata', 'urllib.request',"
        " 'dataclasses', 'difflib', 'gzip', 'html', 'json', 'pathlib', 'vczc.arrow', 'vczc.asked',"
        " 'vczc.display', 'vczc.ids', 'vczc.parts', 'vczc.regions')"
        " if m in sys.modules and m not in before])\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(vczc.__file__).parent.parent,
    ).stdout
    # Cython's own helper module bears its version.
    lines = [re.sub(r"'(_cython|cython)\w*'(, )?", "", line) for line in out.splitlines()]
    assert lines == ["[]", "[]"]


def test_names_that_are_loaded_later():
    code = """
import pickle, sys
import vczc
names = sorted(set(vczc.__all__) - set(vars(vczc)))
assert "region" in names and "to_arrow" in names, names
for name in names:
    value = getattr(vczc, name)
    assert getattr(vczc, name) is value and vars(vczc)[name] is value
    if name != "genotypes":  # a module
        assert pickle.loads(pickle.dumps(value)) is value
import vczc.stream, vczc.regions
assert callable(vczc.stream) or sys.exit("the module hides the function")
from vczc import *
assert samples is vczc.samples and stream is vczc.stream
try:
    vczc.no_such_name
except AttributeError as err:
    assert "no_such_name" in str(err)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_pxd_declares_what_the_header_does():
    header = (ROOT / "csrc" / "include" / "vczc.h").read_text(encoding="utf-8")
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    pxd = (ROOT / "vczc" / "libvczc.pxd").read_text(encoding="utf-8")
    functions = set(re.findall(r"VCZC_API[^;]*?\b(vczc_\w+)\(", header, flags=re.DOTALL))
    constants = set(re.findall(r"\b(VCZC_(?:ERR|OPEN|STORE|NODE|MISSING|CONTIG|MAX)_\w+)", header))
    constants |= set(re.findall(r"^\s+(VCZC_\w+) = \d+,?$", header, flags=re.MULTILINE))
    assert len(functions) > 30
    assert functions == set(re.findall(r"\b(vczc_\w+)\((?!\*)", pxd)) - {"vczc_list_fn"}
    assert {name for name in constants if not re.search(rf"\b{name}\b", pxd)} == set()


def test_get_include_names_a_folder():
    assert Path(vczc.get_include()).name == "include"


@pytest.mark.parametrize("n", [1, 3, None, 0])
def test_set_threads(n):
    vczc.set_threads(n)
    vczc.set_threads(None)


def test_set_threads_refuses_less_than_none():
    with pytest.raises(ValueError, match="thread"):
        vczc.set_threads(-1)


@pytest.mark.parametrize(
    ("module", "extra"), [("vczc.xarray_backend", "xarray"), ("vczc.zarr", "zarr")]
)
def test_an_adapter_without_its_package_names_the_extra(module, extra):
    code = (
        f"import sys; sys.modules['{extra}'] = None\n"
        f"try:\n import {module}\n"
        "except NotImplementedError as err: print(err)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"pip install 'vczc[{extra}]'" in done.stdout, done.stderr
