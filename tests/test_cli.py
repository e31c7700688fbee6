# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The command line: what each command prints, what it ends with, and how it fails."""

import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pytest

import vczc
from vczc.cli.__main__ import COMMANDS, run

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no bash and no such terminals")

SAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "sample.vcz.zip"


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def text(self):
        return self.out.decode()

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def cli(capfdbinary):
    """Runs a command in this process; checks what holds for every one."""

    def call(*args, status=0):
        got = run([str(a) for a in args])
        out, err = capfdbinary.readouterr()
        assert got == status, err.decode()
        told = err if {"npy", "arrow"} & set(args) else out + err
        assert b"\r" not in told
        assert b"\x1b" not in told  # no colour in a pipe
        assert not err if got == 0 else out or err
        if err:
            assert re.fullmatch(r"vczc: .+\n", err.decode()), err
        return Result(got, out, err)

    return call


@pytest.fixture(scope="module")
def root():
    return vczc.open_group(SAMPLE)


@pytest.fixture
def folder(tmp_path):
    """The sample as a directory."""
    with zipfile.ZipFile(SAMPLE) as archive:
        archive.extractall(tmp_path / "sample.vcz")
    return tmp_path / "sample.vcz"


def vczc_process(*args, **kwargs):
    command = [sys.executable, "-m", "vczc.cli", *map(str, args)]
    return subprocess.run(command, capture_output=True, timeout=60, **kwargs)


def test_python_m():
    command = [sys.executable, "-m", "vczc", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"vczc {vczc.__version__}\n"


# ---- info and tree


def test_info_of_a_store(cli, root):
    text = cli("info", SAMPLE).text
    assert "360 variants" in text
    assert "13 samples" in text
    assert re.search(
        r"^call_genotype +360 × 13 × 2 +100 × 5 × 2 +int8 .*bitshuffle", text, re.MULTILINE
    )
    assert all(re.search(rf"^{name} ", text, re.MULTILINE) for name in root)
    assert not re.search(r" $", text, re.MULTILINE)


def test_info_as_json(cli, root):
    got = cli("info", SAMPLE, "--json").json
    assert got["dimensions"]["variants"] == 360
    assert got["attrs"] == dict(root.attrs)
    arrays = {a["name"]: a for a in got["arrays"]}
    assert set(arrays) == set(root)
    genotype = arrays["call_genotype"]
    assert genotype["shape"] == [360, 13, 2]
    assert genotype["dims"] == ["variants", "samples", "ploidy"]
    assert genotype["nbytes_stored"] == root["call_genotype"].nbytes_stored()
    assert arrays["variant_SOMATIC"]["nchunks_initialized"] == 0


def test_info_of_an_array(cli):
    text = cli("info", SAMPLE, "variant_allele").text
    assert re.search(r"shape +360 variants × 4 alleles", text)
    assert re.search(r"type +string", text)
    assert cli("info", SAMPLE, "variant_allele", "--json").json["dtype"] == "string"


def test_tree(cli, root):
    lines = cli("tree", SAMPLE).text.splitlines()
    assert lines[0] == "sample.vcz.zip"
    assert len(lines) == 1 + len(root)
    assert re.search(
        r"── variant_AF +360 × 3 +float32 +variants, alt_alleles$", "\n".join(lines), re.MULTILINE
    )
    tree = cli("tree", SAMPLE, "--json").json
    assert tree["children"]["variant_AF"]["chunks"] == [100, 3]


def test_groups_in_groups(cli, folder):
    nested = folder / "more"
    nested.mkdir()
    (nested / ".zgroup").write_text('{"zarr_format": 2}')
    shutil.move(folder / "call_AD", nested / "call_AD")
    assert re.search(r"── more\n.*── call_AD +360", cli("tree", folder).text)
    assert re.search(r"^more/call_AD ", cli("info", folder).text, re.MULTILINE)
    assert cli("check", folder, "--json").json["arrays"] == 49
    assert cli("cat", folder, "more/call_AD", "--rows", "0").text
    assert "is a group" in cli("cat", folder, "more", status=2).err.decode()


# ---- cat


@pytest.mark.parametrize("name", ["call_genotype", "variant_position", "call_DS", "call_PL"])
def test_npy(cli, root, name):
    got = np.load(io.BytesIO(cli("cat", SAMPLE, name, "--format", "npy").out))
    expected = root[name][...]
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    assert got.tobytes() == expected.tobytes()


def test_npy_of_text(cli, root):
    got = np.load(io.BytesIO(cli("cat", SAMPLE, "variant_NOTE", "--format", "npy").out))
    assert got.dtype == "U300"
    assert got.tolist() == root["variant_NOTE"][:].tolist()


@pytest.mark.parametrize(
    "rows", ["95:205", "0", "359", "-1", "-3:", ":2", "350:999", "400:", "-999:2", "5:5"]
)
def test_rows(cli, root, rows):
    first, colon, last = rows.partition(":")
    expected = root["call_AD"][...]
    if colon:
        expected = expected[slice(*(int(t) if t else None for t in (first, last)))]
    else:
        expected = expected[[int(first)]]
    got = cli("cat", SAMPLE, "call_AD", "--rows", rows, "--format", "npy").out
    assert np.array_equal(np.load(io.BytesIO(got)), expected)


@pytest.mark.parametrize("form", ["text", "arrow"])
@pytest.mark.parametrize("rows", ["400", "360", "-361", "5:2", "-1:2", "400:300", "5:-358"])
def test_rows_that_are_not_there(cli, rows, form):
    err = cli("cat", SAMPLE, "call_AD", "--rows", rows, "--format", form, status=2).err
    assert rows in err.decode()


@pytest.mark.parametrize("block", ["0,0,0", "3,2", "-1", "1"])
def test_block(cli, root, block):
    got = cli("cat", SAMPLE, "call_AD", "--block", block, "--format", "npy").out
    place = tuple(map(int, block.split(",")))
    assert np.array_equal(np.load(io.BytesIO(got)), root["call_AD"].blocks[place])


def test_samples(cli, root):
    args = ("cat", SAMPLE, "call_DP", "--format", "npy", "--samples")
    everything = root["call_DP"][...]
    picked = np.load(io.BytesIO(cli(*args, "Zoë,NA06984").out))
    assert np.array_equal(picked, everything[:, [7, 0]])
    others = np.load(io.BytesIO(cli(*args, "^Zoë").out))
    assert np.array_equal(others, np.delete(everything, 7, axis=1))
    assert (
        cli("cat", SAMPLE, "sample_id", "--samples", "s 7,Zoë", "--format", "tsv").text
        == "s 7\nZoë\n"
    )
    assert b"nobody" in cli(*args, "nobody", status=2).err
    assert b"samples" in cli("cat", SAMPLE, "variant_AC", "--samples", "Zoë", status=2).err


@pytest.mark.parametrize("region", ["X", "20:100000-150000", "HLA-DRB1*15:01:01:01:1-3000", "MT"])
def test_region(cli, root, region):
    rows = [i for s in vczc.region(root, region) for i in range(s.start, s.stop)]
    for name in ("variant_position", "call_genotype"):
        args = ("cat", SAMPLE, name, "--region", region, "--format", "npy")
        got = np.load(io.BytesIO(cli(*args).out))
        assert np.array_equal(got, root[name][...][rows])
        if name == "call_genotype":
            got = np.load(io.BytesIO(cli(*args, "--samples", "Zoë,NA06984").out))
            assert np.array_equal(got, root[name][...][rows][:, [7, 0]])


def test_several_regions(cli, root):
    several = ["20:1-130000", "X"]
    expected = [root["variant_position"][s] for s in vczc.region(root, several)]
    options = [option for region in several for option in ("--region", region)]
    for asked in (options, ["--region", ",".join(several)]):
        got = cli("cat", SAMPLE, "variant_position", *asked).out.decode().split()
        assert [int(n) for n in got] == np.concatenate(expected).tolist()


def test_tsv_reads_back(cli, root):
    for name in ("call_genotype", "variant_AF", "variant_filter", "variant_position"):
        expected = root[name][...]
        got = cli("cat", SAMPLE, name, "--format", "tsv").out
        read = np.loadtxt(io.BytesIO(got), dtype=expected.dtype, delimiter="\t", ndmin=2)
        assert np.array_equal(
            read.reshape(expected.shape), expected, equal_nan=expected.dtype.kind == "f"
        )


def test_tsv_of_text(cli, root):
    lines = cli("cat", SAMPLE, "variant_allele", "--format", "tsv").text.splitlines()
    assert [line.split("\t") for line in lines] == root["variant_allele"][...].tolist()


def test_text(cli):
    lines = cli("cat", SAMPLE, "call_genotype", "--rows", "2").text.splitlines()
    assert lines[0].startswith("[0 0] [0 0] [0 0] [-1 0] [-1 -2] ")
    assert cli("cat", SAMPLE, "variant_allele", "--rows", "5").text == 'C A "" ""\n'
    assert cli("cat", SAMPLE, "sample_id").text.splitlines()[6] == '"s 7"'


def test_texts_with_tabs_and_breaks(cli, tmp_path):
    import numcodecs
    import zarr

    group = zarr.open_group(tmp_path / "d", mode="w", zarr_format=2)
    array = group.create_array(
        "x", shape=(3,), dtype=str, chunks=(2,), filters=[numcodecs.VLenUTF8()], compressors=None
    )
    array[:] = np.array(["a\tb", "c\nd", ""], dtype=np.dtypes.StringDType())
    assert cli("cat", tmp_path / "d", "x", "--format", "tsv").text == "a\\tb\nc\\nd\n\n"
    assert cli("cat", tmp_path / "d", "x").text == '"a\\tb"\n"c\\nd"\n""\n'


def test_parts_smaller_than_a_chunk(cli, root, monkeypatch):
    monkeypatch.setattr("vczc.cli.cat.PART_NBYTES", 300)
    got = cli("cat", SAMPLE, "call_AD", "--format", "npy").out
    assert np.array_equal(np.load(io.BytesIO(got)), root["call_AD"][...])


def test_scalars_and_empty_arrays(cli, tmp_path):
    import zarr

    group = zarr.open_group(tmp_path / "d", mode="w", zarr_format=2)
    group.create_array("scalar", shape=(), dtype="f4")[()] = 0.1
    group.create_array("empty", shape=(0, 3), dtype="i4", chunks=(1, 3))
    d = tmp_path / "d"
    assert cli("cat", d, "scalar").text == "0.1\n"
    assert np.load(io.BytesIO(cli("cat", d, "scalar", "--format", "npy").out)) == np.float32(0.1)
    assert cli("cat", d, "empty").text == ""
    assert np.load(io.BytesIO(cli("cat", d, "empty", "--format", "npy").out)).shape == (0, 3)
    assert b"no rows" in cli("cat", d, "scalar", "--rows", "0", status=2).err


@pytest.mark.parametrize("rows", [[], ["--rows", "95:205"], ["--region", "20"]], ids=str)
def test_several_arrays(cli, root, rows):
    names = ["variant_position", "variant_allele", "call_DP", "variant_position"]
    ids = root["sample_id"][:][[7, 0]]
    args = [*names, *rows, "--samples", ",".join(ids)]
    lines = cli("cat", SAMPLE, *args, "--format", "tsv").text.splitlines()
    number = np.arange(360)
    if rows:
        number = (
            number[95:205]
            if "--rows" in rows
            else np.concatenate([number[r] for r in vczc.region(root, "20")])
        )
    expected = [root[name].oindex[number] for name in names[:3]]
    expected[2] = expected[2][:, [7, 0]]
    assert lines == [
        "\t".join([str(p), *a.tolist(), *map(str, d.tolist())])
        for p, a, d in zip(*expected, strict=True)
    ]
    shown = cli("cat", SAMPLE, *args).text.splitlines()
    assert [line.split()[0] for line in shown] == [str(p) for p in expected[0]]
    table = pa.ipc.open_stream(cli("cat", SAMPLE, *args, "--format", "arrow").out).read_all()
    assert table.column_names == names[:3]
    assert table["call_DP"].to_pylist() == expected[2].tolist()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["variant_id", "variant_position", "--block", "0"], "one array"),
        (["variant_id", "variant_position", "--format", "npy"], "one array"),
        (["variant_id", "sample_id"], "sample_id"),
        (["variant_id", "variant_position", "--samples", "NA06984"], "no samples axis"),
        (["variant_id", "call_DP", "--samples", "nobody"], "nobody"),
        (["variant_id", "call_DP", "--region", "99"], "99"),
        (["variant_id", "call_DP", "--rows", "360"], "360"),
        (["variant_id", "call_DPP"], "call_DP"),
    ],
)
def test_several_arrays_that_do_not_go_together(cli, args, says):
    assert says in cli("cat", SAMPLE, *args, status=2).err.decode()


def test_arrow_without_pyarrow(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert b"pyarrow" in cli("cat", SAMPLE, "variant_AF", "--format", "arrow", status=2).err


@posix
def test_closed_pipe():
    cat = f'"{sys.executable}" -m vczc.cli cat "{SAMPLE}" call_PL --format tsv'
    script = f"{cat} | head -n 1; echo ${{PIPESTATUS[0]}}"
    got = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    first, status = got.stdout.splitlines()
    assert len(first.split("\t")) == 130
    assert status in ("0", "141")
    assert got.stderr == ""


OUTPUTS = ["info", "tree", "check", "cat {} call_DP", "cat {} call_DP --format npy", "info --json"]


@posix
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("line", OUTPUTS)
def test_closed_output(line, unbuffered, monkeypatch):
    """`>&-` and a full disk are told in one line; that nobody listens to errors is no error."""
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    command = " ".join([f'"{sys.executable}"', "-m vczc", line.format(f'"{SAMPLE}"')])
    command += "" if "{}" in line else f' "{SAMPLE}"'
    cases = [(">&-", 2, 1), ("> /dev/null 2>&-", 0, 0)]
    if pathlib.Path("/dev/full").exists():
        cases.append(("> /dev/full", 2, 1))
    for where, status, nlines in cases:
        got = subprocess.run(
            ["bash", "-c", f"{command} {where}"], capture_output=True, text=True, timeout=60
        )
        assert (got.returncode, got.stdout) == (status, ""), where
        assert got.stderr.count("\n") == nlines, where
        assert got.stderr.startswith("vczc: ") == (nlines == 1), where


# ---- check


def entry_offset(path, name):
    """Where the bytes of a stored entry begin, and how many there are."""
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        info = archive.getinfo(name)
        file.seek(info.header_offset + 26)
        lengths = file.read(4)
    names, extra = (int.from_bytes(lengths[i : i + 2], "little") for i in (0, 2))
    return info.header_offset + 30 + names + extra, info.file_size


def flip(path, name):
    """Damage the last byte of an entry; its checksum stays as it was."""
    start, size = entry_offset(path, name)
    with path.open("r+b") as file:
        file.seek(start + size - 1)
        last = file.read(1)[0]
        file.seek(start + size - 1)
        file.write(bytes([last ^ 0x40]))


def test_check_of_a_sound_store(cli, folder):
    for path in (SAMPLE, folder):
        assert re.fullmatch(
            r"295 chunks of 49 arrays, 722 KB in .*: all sound\n", cli("check", path).text
        )
        got = cli("check", path, "--json", "--jobs", 3).json
        assert (got["chunks"], got["absent"], got["damaged"]) == (295, 5, [])


def test_check_names_each_damaged_chunk_of_an_archive(cli, tmp_path):
    path = tmp_path / "damaged.vcz.zip"
    shutil.copy(SAMPLE, path)
    damaged = {
        "call_genotype/2.1.0": ("call_genotype", [2, 1, 0]),
        "variant_allele/3.0": ("variant_allele", [3, 0]),
        "call_genotype/0.0.0": ("call_genotype", [0, 0, 0]),
        "region_index/0.0": ("region_index", [0, 0]),
    }
    for key in damaged:
        flip(path, key)
    got = cli("check", path, "--json", status=1).json
    assert {d["key"]: (d["array"], d["coords"]) for d in got["damaged"]} == damaged
    assert [d["key"] for d in got["damaged"]] == sorted(damaged)
    assert all(d["reason"] for d in got["damaged"])
    assert got["chunks"] == 295
    text = cli("check", path, status=1).text
    assert all(re.search(rf" {re.escape(key)} ", text) for key in damaged)
    assert text.endswith(": 4 damaged\n")


def test_check_names_each_damaged_chunk_of_a_directory(cli, folder):
    chunks = {"call_DS/1.1.0": [1, 1, 0], "variant_CSQ/2.0": [2, 0], "variant_position/0": [0]}
    for key in chunks:
        data = (folder / key).read_bytes()
        (folder / key).write_bytes(data[: len(data) // 2])
    got = cli("check", folder, "--json", status=1).json
    assert {d["key"]: d["coords"] for d in got["damaged"]} == chunks


def test_check_goes_on_past_an_array_that_does_not_open(cli, folder):
    (folder / "call_AD" / ".zarray").write_text("{")
    document = json.loads((folder / "call_PL" / ".zarray").read_text())
    document["compressor"] = {"id": "no-such-codec"}
    (folder / "call_PL" / ".zarray").write_text(json.dumps(document))
    got = cli("check", folder, "--json", status=1).json
    assert [(d["array"], d["coords"]) for d in got["damaged"]] == [("call_AD", None)]
    assert [d["array"] for d in got["unsupported"]] == ["call_PL"]
    assert "no-such-codec" in got["unsupported"][0]["reason"]
    (folder / "call_AD" / ".zarray").unlink()
    assert "1 array not read" in cli("check", folder, status=2).text


def test_check_of_a_sparse_array(cli, tmp_path, monkeypatch):
    """A grid of a million million chunks, three of them there, one of those damaged."""
    folder = tmp_path / "d" / "x"
    folder.mkdir(parents=True)
    (tmp_path / "d" / ".zgroup").write_text('{"zarr_format": 2}')
    document = {
        "zarr_format": 2, "shape": [10**6, 10**6], "chunks": [1, 1], "dtype": "|u1",
        "compressor": None, "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    (folder / ".zarray").write_text(json.dumps(document))
    for key, data in {"0.0": b"a", "999999.5": b"b", "7.999999": b""}.items():
        (folder / key).write_bytes(data)
    got = cli("check", tmp_path / "d", "--json", status=1).json
    assert got["chunks"] == 3
    assert [d["coords"] for d in got["damaged"]] == [[7, 999999]]


def test_cat_of_a_damaged_chunk(cli, folder):
    (folder / "variant_position" / "1").write_bytes(b"no frame")
    got = cli("cat", folder, "variant_position", status=1)
    assert len(got.text.splitlines()) == 100  # what comes before the damage is there
    assert b"variant_position" in got.err


# ---- bench, cc-flags, version


def test_bench(cli):
    args = ("bench", SAMPLE, "--array", "call_genotype", "--rounds", 1)
    got = cli(*args, "--json").json
    assert got["versions"]["vczc"] == vczc.__version__
    assert {t["task"] for t in got["tasks"]} == {"blocks", "single rows", "10 samples"}
    for task in got["tasks"]:
        results = {r["reader"]: r for r in task["results"]}
        assert results["vczc"]["ratio"] == 1
        assert results["zarr-python"]["median_seconds"] > 0
        assert task["left_out"] == {}
    assert re.search(r"^zarr-python .* ×$", cli(*args).text, re.MULTILINE)
    assert b"nothing" in cli("bench", SAMPLE, "--array", "nothing", status=2).err


def test_cc_flags(cli):
    text = cli("cc-flags").text
    assert f"-I{vczc.get_include()}" in text.split()
    assert f"-L{vczc.get_library_dir()}" in text.split()
    assert "-lvczc" in cli("cc-flags", "--libs").text.split()
    assert cli("cc-flags", "--cflags").text == f"-I{vczc.get_include()}\n"


@pytest.mark.parametrize(
    "args", [["--version"], ["info", str(SAMPLE)], ["cat", str(SAMPLE), "sample_id"]]
)
def test_a_pipe_does_not_wait_for_rich(args):
    """Nor for anything else that only a terminal needs: it is half of the time of a start."""
    code = (
        f"import sys; from vczc.cli.__main__ import run; status = run({args!r}); "
        "sys.exit(status or any(m == 'rich' or m.startswith('rich.') for m in sys.modules))"
    )
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert (got.returncode, got.stderr) == (0, b"")
    assert got.stdout


def test_version():
    assert vczc_process("--version").stdout.decode().split() == ["vczc", vczc.__version__]


def test_a_table_in_a_pipe():
    from vczc.cli import plain

    table = plain.Table([plain.Column("name", False), plain.Column("n", True)])
    for row in (("a", "1"), ("ä\u0301", "22"), ("漢字", "333"), ("abcde", "")):
        table.add_row(*row)
    lines = ["name     n", "a        1", "ä\u0301       22", "漢字   333", "abcde"]
    assert list(table.lines()) == lines


def test_only_the_command_line_needs_click_and_rich():
    code = "import sys, vczc; sys.exit(bool({'click', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_help_of_each_command(cli):
    listed = cli("--help").text
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", listed, re.MULTILINE)
        assert "Usage: vczc" in cli(name, "--help").text


# ---- Failures


@pytest.mark.parametrize("command", [("info",), ("tree",), ("check",), ("bench",), ("cat", "x")])
def test_path_that_is_not_there(cli, tmp_path, command):
    name, *rest = command
    assert b"nowhere" in cli(name, tmp_path / "nowhere", *rest, status=2).err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("nothing",), "nothing"),
        (("info",), "PATH"),
        (("cat", SAMPLE), "ARRAY"),
        (("cat", SAMPLE, "call_genotyp"), "call_genotype"),
        (("cat", SAMPLE, "call_DP", "--rows", "x"), "A:B"),
        (("cat", SAMPLE, "call_DP", "--rows", ""), "row"),
        (("cat", SAMPLE, "call_DP", "--block", "9"), "grid"),
        (("cat", SAMPLE, "call_DP", "--block", "0,0,0"), "axes"),
        (("cat", SAMPLE, "call_DP", "--block", "0", "--rows", "0"), "exclude"),
        (("cat", SAMPLE, "call_DP", "--block", "0", "--samples", "Zoë"), "exclude"),
        (("cat", SAMPLE, "call_DP", "--region", "22"), "22"),
        (("cat", SAMPLE, "contig_id", "--region", "20"), "contig_id"),
        (("cat", SAMPLE, "call_DP", "--format", "csv"), "csv"),
        (("check", SAMPLE, "--jobs", "0"), "jobs"),
    ],
)
def test_wrong_usage(cli, args, says):
    got = cli(*args, status=2)
    assert says in got.err.decode()
    assert got.out == b""


def test_file_that_is_no_store(cli, tmp_path):
    (tmp_path / "text.zip").write_text("hello")
    assert b"text.zip" in cli("info", tmp_path / "text.zip", status=2).err


@posix
def test_bar_on_a_terminal_only():
    """Standard error as a terminal: a bar there, the values alone on standard output."""
    import pty

    code = (
        "import vczc.cli.terminal as t; t.BAR_DELAY_SECONDS = -1; "
        f"from vczc.cli.__main__ import main; main(['check', {str(SAMPLE)!r}, '--json'])"
    )
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(slave)
    out, _ = process.communicate(timeout=60)
    drawn = os.read(master, 1 << 20).decode()
    os.close(master)
    assert json.loads(out)["chunks"] == 295
    assert "checking" in drawn
