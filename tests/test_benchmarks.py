# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The benchmarks run to their end on a small store, and a reader that errs is found out."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import vczc

TOP = pathlib.Path(__file__).resolve().parent.parent
BENCHMARKS = TOP / "benchmarks"


@pytest.fixture
def modules(monkeypatch):
    """The benchmark's files are programs side by side, not a package."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import opening
    import peers
    import report
    import simulate
    import tasks
    import timing

    yield {m.__name__: m for m in (opening, peers, report, simulate, tasks, timing)}
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", "").startswith(str(BENCHMARKS)):
            del sys.modules[name]


@pytest.fixture
def store(tmp_path, modules):
    path = tmp_path / "tiny.vcz"
    simulate = modules["simulate"]
    simulate.make_store(path, simulate.SIZES["tiny"], lambda _line: None)
    return path


def test_run(tmp_path):
    out, cache = tmp_path / "out", tmp_path / "cache"
    command = [sys.executable, BENCHMARKS / "run.py", "--size", "tiny", "--turns", "1"]
    command += ["--threads", "1", "--out", out, "--cache", cache]
    paths = [str(BENCHMARKS), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=110)
    assert done.returncode == 0, done.stderr
    document = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert [run["kind"] for run in document["runs"]] == ["directory", "zip"]
    for run in document["runs"]:
        assert run["versions"]["vczc"] == vczc.__version__
        tasks = {task["task"]: task for task in run["tasks"]}
        assert {"blocks/call_genotype", "blocks/call_PL/into", "row", "whole"} <= {*tasks}
        for task in tasks.values():
            assert task["checked_against"] == "zarr-python" or task["task"].endswith("/into")
            assert task["results"]["vczc"]["turns"] == 1
            assert not task["wrong"]
    assert [task["array"] for task in document["opening"]] == ["call_genotype"] * 2 + ["a"]
    assert all("vczc" in task["results"] for task in document["opening"])
    assert "GB/s" in done.stdout
    assert "open a zip of 50 chunks" in done.stdout
    table = (out / "tables.md").read_text(encoding="utf-8")
    assert "| genotypes | " in table
    assert "| alleles | " in table


def test_wrong_data_is_marked(store, modules, capsys):
    peers, timing, report = modules["peers"], modules["timing"], modules["report"]

    class Wrong(peers.Vczc):
        name = "wrong"

        def block(self, block):
            made = super().block(block)
            made.flat[-1] += 1
            return made

    class Failing(peers.Vczc):
        name = "failing"

        def block(self, block):
            raise OSError("no such luck")

    readers, _, _ = peers.opened(store, 1, 2, (peers.Vczc, peers.ZarrPython, Wrong, Failing))
    tasks = modules["tasks"].tasks_of(vczc.open_group(store), 10**6)
    task = next(t for t in tasks if t.name == "blocks/call_DP")
    result = timing.run_task(task, readers, 1, 0.0)
    assert result["wrong"] == ["wrong"]
    assert result["left_out"] == {"failing": "OSError: no such luck"}
    assert list(result["results"]) == ["vczc", "zarr-python"]

    run = {"kind": "directory", "threads": 1, "readers": {r.name: r.kind for r in readers}}
    run |= {"left_out": {}, "tasks": [result]}
    machine = {"processor": "any", "system": "any", "python": "3"}
    document = {"machine": machine, "runs": [run], "opening": []}
    report.print_tables(document)
    shown = next(x for x in capsys.readouterr().out.splitlines() if "wrong" in x)
    assert report.WRONG in shown
    rows = [x.strip("| ").split(" | ") for x in report.markdown(document).splitlines() if "|" in x]
    assert dict(zip(rows[0], rows[2], strict=True))["wrong"] == "WRONG"


def test_vczc_itself_may_be_wrong(store, modules):
    peers, timing = modules["peers"], modules["timing"]

    class Wrong(peers.Vczc):
        def read(self, name, box):
            return super().read(name, box)[:, ::-1]

    readers, _, _ = peers.opened(store, 1, 2, (Wrong, peers.ZarrPython))
    tasks = modules["tasks"].tasks_of(vczc.open_group(store), 10**6)
    result = timing.run_task(next(t for t in tasks if t.name == "whole"), readers, 1, 0.0)
    assert result["wrong"] == ["vczc"]
    assert modules["report"].ratio(result, "zarr-python", "wall") is None


def test_digest_sees_types_shapes_and_text(modules):
    digest = modules["timing"].digest
    numbers = np.arange(6, dtype=np.int8)
    text = np.array(["a", "bc", ""], object)
    same = digest([text]), digest([text.astype(np.dtypes.StringDType())])
    assert same[0] == same[1]
    others = [
        digest([numbers]),
        digest([numbers.view(np.uint8)]),
        digest([numbers.reshape(2, 3)]),
        digest([numbers[::-1]]),
        digest([np.array(["ab", "c", ""], object)]),
        same[0],
    ]
    assert len(set(others)) == len(others)
    assert digest([numbers[::2]]) == digest([numbers[::2].copy()])


def test_simulation_is_what_it_says(store):
    root = vczc.open_group(store)
    genotypes = root["call_genotype"][:]
    assert genotypes.shape == (250, 30, 2)
    assert set(np.unique(genotypes)) <= {0, 1, 2}
    assert (np.diff(root["variant_position"][:]) > 0).all()
    assert ((root["variant_allele"][:, 2] != "") >= (genotypes == 2).any(axis=(1, 2))).all()
    assert root["call_PL"].blocks.stored((2, 0, 0)) is None
    frequency = (genotypes > 0).mean(axis=(1, 2))
    assert np.median(frequency) < 0.25 < frequency.max()


def test_adapters(store, modules):
    archive = store.with_suffix(".vcz.zip")
    modules["simulate"].make_zip(store, archive)
    command = [sys.executable, BENCHMARKS / "adapters.py", store, archive, "--turns", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("xarray, engine vczc, dask") == 8
    assert done.stdout.count("zarr, our both") == 4
