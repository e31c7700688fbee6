# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Every failure of libvczc has a class, says where it was, and survives a pickle."""

import errno
import io
import pickle
import re
import threading
from pathlib import Path

import numpy as np
import pytest
import stores
import zarr

import vczc
from vczc import _core, errors

ROOT = Path(__file__).resolve().parent.parent
HEADER = ROOT / "csrc" / "include" / "vczc.h"

CODES = {
    name: int(value)
    for name, value in re.findall(r"VCZC_ERR_(\w+) = (-\d+)", HEADER.read_text(encoding="utf-8"))
}
CLASSES = {
    "NO_MEMORY": MemoryError,
    "ARGUMENT": ValueError,
    "INDEX": IndexError,
    "BUFFER": vczc.BufferError,
    "NOT_FOUND": FileNotFoundError,
    "STORE": vczc.StoreError,
    "NO_NODE": vczc.NodeNotFoundError,
    "METADATA": vczc.MetadataError,
    "UNSUPPORTED": vczc.UnsupportedError,
    "CORRUPT": vczc.CorruptChunkError,
    "MISSING_CHUNK": vczc.StoreError,
    "INTERNAL": vczc.Error,
    "CANCELLED": vczc.Error,
}
PUBLIC = [
    vczc.Error,
    vczc.StoreError,
    vczc.StoreNotFoundError,
    vczc.NodeNotFoundError,
    vczc.MetadataError,
    vczc.UnsupportedError,
    vczc.CorruptChunkError,
    vczc.BufferError,
    vczc.UnknownIdError,
]


def test_every_code_has_a_class():
    assert set(CODES) == set(CLASSES)
    assert set(errors.CLASSES) == set(range(_core.ERR_LAST, 0)) == set(CODES.values())


@pytest.mark.parametrize("name", sorted(CODES))
def test_code_raises_its_class(name):
    caught = []

    def fail():
        with pytest.raises(CLASSES[name]) as info:
            _core.check_code(CODES[name])
        caught.append(info.value)

    thread = threading.Thread(target=fail)  # a new one: it has no account of any failure
    thread.start()
    thread.join()
    assert str(caught[0]) == _core.strerror(CODES[name]) != _core.strerror(-1000)


def test_success_raises_nothing():
    _core.check_code(0)


def test_a_code_of_a_later_version_is_an_error():
    with pytest.raises(vczc.Error):
        _core.check_code(-1000)


@pytest.mark.parametrize(
    ("cls", "base"),
    [
        (vczc.StoreError, OSError),
        (vczc.StoreNotFoundError, vczc.StoreError),
        (vczc.StoreNotFoundError, FileNotFoundError),
        (vczc.NodeNotFoundError, KeyError),
        (vczc.MetadataError, ValueError),
        (vczc.UnsupportedError, NotImplementedError),
        (vczc.CorruptChunkError, ValueError),
        (vczc.BufferError, ValueError),
        (vczc.UnknownIdError, KeyError),
        (vczc.UnknownIdError, ValueError),
    ],
)
def test_bases(cls, base):
    assert issubclass(cls, base)
    assert issubclass(cls, vczc.Error)


@pytest.mark.parametrize("cls", PUBLIC)
def test_pickle_keeps_the_place(cls):
    error = cls("it's broken", array="a/b", coords=(1, 2), key="a/b/1.2")
    error.add_note("a note")
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(error, protocol))
        assert type(copy) is cls
        assert str(copy) == "it's broken"  # as it is: KeyError would quote it
        assert (copy.array, copy.coords, copy.key) == ("a/b", (1, 2), "a/b/1.2")
        assert copy.__notes__ == ["a note"]


@pytest.mark.parametrize("cls", PUBLIC)
def test_without_a_place(cls):
    error = cls("why")
    assert (error.array, error.coords, error.key) == (None, None, None)


def test_modules_are_those_of_users():
    for cls in PUBLIC:
        assert cls.__module__ == "vczc"
        assert getattr(vczc, cls.__name__) is cls


def test_nothing_at_the_path(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.vcz") as caught:
        vczc.open(tmp_path / "nowhere.vcz")
    assert isinstance(caught.value, vczc.StoreError)
    assert caught.value.errno == errno.ENOENT
    assert caught.value.filename == str(tmp_path / "nowhere.vcz")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), copy.filename) == (vczc.StoreNotFoundError, caught.value.filename)
    with pytest.raises(vczc.StoreNotFoundError) as caught:
        vczc.ZipStore("nowhere.vcz.zip")
    assert caught.value.filename == "nowhere.vcz.zip"
    assert not (tmp_path / "nowhere.vcz").exists()


def test_no_archive(tmp_path):
    (tmp_path / "notes.txt").write_text("not a store")
    with pytest.raises(vczc.StoreError, match=r"notes\.txt"):
        vczc.open(tmp_path / "notes.txt")


@pytest.fixture
def root(tmp_path):
    stores.write(tmp_path / "d", "call_genotype", np.arange(20, dtype="i4"), (5,))
    stores.write(tmp_path / "d", "call_DP", np.arange(20, dtype="i4"), (5,))
    return tmp_path / "d"


@pytest.mark.parametrize("kind", stores.KINDS)
@pytest.mark.parametrize("wanted", ["call_genotyp", "Call_Genotype", "call_gt"])
def test_close_names_are_named(root, kind, wanted):
    group = vczc.open(stores.source(root, kind))
    with pytest.raises(vczc.NodeNotFoundError) as caught:
        group[wanted]
    message = str(caught.value)
    assert wanted in message
    assert "'call_genotype'" in message
    assert not message.startswith(('"', "'"))


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        ("dp", ["call_DP"]),
        ("variant_DP", ["call_DP"]),
        ("geno", ["call_genotype"]),
        ("GT", ["call_genotype"]),
    ],
)
def test_a_word_of_a_name_names_it(root, wanted, named):
    with pytest.raises(vczc.NodeNotFoundError) as caught:
        vczc.open(root)[wanted]
    assert str(caught.value).endswith(f"did you mean {' or '.join(map(repr, named))}?")


def test_what_is_there_is_named(root):
    with pytest.raises(vczc.NodeNotFoundError, match=r"there are 'call_DP', 'call_genotype'"):
        vczc.open(root)["zzz"]


def test_the_other_kind(root):
    with pytest.raises(vczc.NodeNotFoundError, match="is a group, not an array"):
        vczc.open_array(root)
    with pytest.raises(vczc.NodeNotFoundError, match="is an array, not a group"):
        vczc.open_group(root, path="call_DP")
    with pytest.raises(vczc.NodeNotFoundError, match="'call_DP'"):
        vczc.open(root, path="call_DQ")


@pytest.mark.parametrize("kind", stores.KINDS)
def test_corrupt_chunk_says_where(root, kind):
    (root / "call_DP" / "2").write_bytes(b"\x28\xb5\x2f\xfdjunk")
    array = vczc.open(stores.source(root, kind))["call_DP"]
    for read in (lambda: array.blocks[2], lambda: array[...], lambda: array[11]):
        with pytest.raises(vczc.CorruptChunkError) as caught:
            read()
        error = caught.value
        assert (error.array, error.coords, error.key) == ("call_DP", (2,), "call_DP/2")
        assert "call_DP" in str(error)
        copy = pickle.loads(pickle.dumps(error))
        assert str(copy) == str(error)
        assert copy.coords == (2,)
    np.testing.assert_array_equal(array[:10], np.arange(10))


def test_missing_chunk_is_an_error_where_asked_for(root):
    (root / "call_DP" / "2").unlink()
    assert (vczc.open(root)["call_DP"][10:15] == 0).all()
    array = vczc.open(root, missing="error")["call_DP"]
    with pytest.raises(vczc.StoreError) as caught:
        array.blocks[2]
    assert (caught.value.array, caught.value.coords, caught.value.key) == (
        "call_DP",
        (2,),
        "call_DP/2",
    )
    np.testing.assert_array_equal(array.blocks[1], np.arange(5, 10))


def test_metadata_that_is_not_valid(root):
    (root / "call_DP" / ".zarray").write_text("{")
    with pytest.raises(vczc.MetadataError, match="call_DP"):
        vczc.open(root)["call_DP"]


def test_attributes_that_cannot_be_parsed(root):
    (root / ".zattrs").write_text("[1]")
    with pytest.raises(vczc.MetadataError):
        _ = vczc.open(root).attrs


def test_max_chunk_bytes(root):
    assert vczc.open(root, max_chunk_bytes=20)["call_DP"].chunks == (5,)
    with pytest.raises(vczc.MetadataError):
        vczc.open(root, max_chunk_bytes=19)["call_DP"]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"strings": "utf8"}, "strings"),
        ({"missing": "ignore"}, "missing"),
        ({"max_chunk_bytes": 0}, "max_chunk_bytes"),
        ({"max_chunk_bytes": 1 << 63}, "max_chunk_bytes"),
        ({"storage_options": {"region": "x"}}, "storage_options"),
    ],
)
def test_options_that_make_no_sense(root, options, word):
    with pytest.raises(ValueError, match=word):
        vczc.open(root, **options)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        (3, "int"),
        (None, "NoneType"),
        (b"PK" * 10_000, "bytes"),
        (["a"], "list"),
        (io.BytesIO(), "_io.BytesIO"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_is_no_source(source, named):
    with pytest.raises(TypeError, match=rf"pass the path .* mapping .*, not {named}$"):
        vczc.open(source)


def test_groups_are_no_source(root):
    with pytest.raises(TypeError, match=r"pass the path .*\.Group$"):
        vczc.open(zarr.open_group(root, mode="r"))
    group = vczc.open(root)
    for node in (group, next(iter(group.values()))):
        with pytest.raises(TypeError, match=r"open already: its store is its attribute `store`"):
            vczc.open(node)
        assert list(vczc.open(node.store)) == list(group)


def test_extra_that_is_not_installed():
    from vczc._extras import require

    assert require("json", "x").__name__ == "json"
    with pytest.raises(vczc.UnsupportedError, match=r"vczc\[moon\]"):
        require("no_such_module_of_the_moon", "moon")


class Broken(dict):
    """A mapping that fails at one key."""

    def __init__(self, content, key, error):
        super().__init__(content)
        self.key = key
        self.error = error

    def __getitem__(self, key):
        if key == self.key:
            raise self.error
        return super().__getitem__(key)


@pytest.mark.parametrize(
    "error", [OSError("link\ndown"), RuntimeError("x" * 5000), PermissionError()]
)
def test_what_a_mapping_raises_is_the_cause(root, error):
    array = vczc.open(Broken(stores.mapped(root), "call_DP/1", error))["call_DP"]
    for read in (lambda: array.blocks[1], lambda: array[...], lambda: array.read(..., threads=3)):
        with pytest.raises(vczc.StoreError) as caught:
            read()
        assert caught.value.__cause__ is error
        assert type(error).__name__ in str(caught.value)
    assert not errors._causes
    np.testing.assert_array_equal(array[:5], np.arange(5))


def test_an_interrupt_in_a_mapping_is_an_interrupt(root):
    array = vczc.open(Broken(stores.mapped(root), "call_DP/1", KeyboardInterrupt()))["call_DP"]
    with pytest.raises(KeyboardInterrupt):
        array.blocks[1]


def test_few_causes_are_kept():
    for i in range(100):
        errors.remember_cause(f"cause {i}", ValueError(i))
    assert len(errors._causes) <= 16
    errors._causes.clear()


def own_texts():
    """Each code's text of vczc_strerror."""
    source = (ROOT / "csrc" / "base" / "status.c").read_text(encoding="utf-8")
    return dict(re.findall(r'case (VCZC_ERR_\w+):\s+return "([^"]+)";', source))


def reasons():
    """(code, or how it is worked out; the text) of each failure of the C library."""
    call = r'vczi_fail(?:_errno)?\(([^,"]+),\s*(?:[\w>.-]+,\s*)?"((?:[^"\\]|\\.)*)"'
    for path in sorted((ROOT / "csrc").glob("*/*.c")):
        yield from re.findall(call, path.read_text(encoding="utf-8"))


def test_no_reason_repeats_what_its_code_says():
    """A program prints both: `corrupt data: corrupt data in a chunk` would stutter."""
    texts = own_texts()
    found = list(reasons())
    assert len(texts) > 12
    assert len(found) > 250
    for code, reason in found:
        said = [texts[code]] if code in texts else texts.values()
        assert not [text for text in said if text in reason.lower()], reason
