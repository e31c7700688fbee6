# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""vcztools on vczc: `VczReader(vczc.open(path))` and what it writes are what zarr-python gives."""

import gc
import io
import os
import re
import threading
from pathlib import Path

import encoded
import numpy as np
import pytest
import vcztools
import vcztools.cli
import zarr
from click.testing import CliRunner
from vcztools import regions as vcztools_regions
from vcztools import stats as vcztools_stats

import vczc

KINDS = ["sample", "folder of format 3"]


def others():
    named = os.environ.get("VCZC_TEST_DATA")
    return sorted(Path(named).glob("*.vcz*.zip")) if named else []


@pytest.fixture(autouse=True)
def collected_here():
    """Iterators that vcztools leaves behind join threads when they are collected, which must not
    happen in one of those threads, inside `threading`: it would wait for itself."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return encoded.encode(tmp_path_factory.mktemp("vcztools"), as_ascii=True)


@pytest.fixture(scope="module", params=[*KINDS, *others()], ids=lambda x: getattr(x, "name", x))
def path(request, made):
    """The sample, the same in ASCII, as vcztools writes VCF, and what others have made."""
    if isinstance(request.param, Path):
        return request.param
    if request.param == "sample":
        return encoded.EXAMPLES / "sample.vcz.zip"
    return made[3]


def by_zarr(path):
    store = zarr.storage.ZipStore(path, mode="r") if path.is_file() else path
    return zarr.open_group(store, mode="r")


@pytest.fixture(scope="module")
def roots(path):
    return by_zarr(path), vczc.open(path)


@pytest.fixture
def readers(roots):
    pair = [vcztools.VczReader(root) for root in roots]
    yield pair
    for reader in pair:
        reader.__exit__(None, None, None)


def same(a, b):
    """Equal, of one type, and bit for bit where there are bits."""
    if isinstance(a, np.ndarray):
        assert isinstance(b, np.ndarray)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind in "TO":
            assert a.tolist() == b.tolist()
        else:
            assert a.tobytes() == b.tobytes()
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for name in a:
            same(a[name], b[name])
    elif isinstance(a, np.generic):
        same(np.asarray(a), np.asarray(b))
    else:
        assert type(a) is type(b)
        assert a == b


def same_parts(readers, **kwargs):
    """The parts of both; how many rows they have."""
    parts = [list(reader.variant_chunks(**kwargs)) for reader in readers]
    assert len(parts[0]) == len(parts[1])
    for a, b in zip(*parts, strict=True):
        same(dict(sorted(a.items())), dict(sorted(b.items())))
    return sum(len(part["variant_position"]) for part in parts[0])


def outcome(call, *args, **kwargs):
    """What a call gives, or how it fails."""
    try:
        return call(*args, **kwargs)
    except Exception as err:
        return type(err), re.sub(r"0x[0-9a-f]+", "", str(err))


def regions_of(root):
    """A contig, the middle half of its positions, and one position of another."""
    contig = root["variant_contig"][:]
    position = root["variant_position"][:]
    ids = root["contig_id"][:].tolist()
    most = int(np.bincount(contig).argmax())
    mine = np.sort(position[contig == most])
    first, last = int(mine[len(mine) // 4]), int(mine[3 * len(mine) // 4])
    return ids[most], f"{ids[most]}:{first}-{last}", f"{ids[contig[-1]]}:{position[-1]}"


PROPERTIES = [
    "field_names",
    "virtual_field_names",
    "num_variants",
    "num_samples",
    "num_null_samples",
    "variants_chunk_size",
    "samples_chunk_size",
    "samples_selection",
    "sample_ids",
    "raw_sample_ids",
    "contig_ids",
    "contigs",
    "contig_lengths",
    "filter_ids",
    "filters",
    "filter_descriptions",
    "region_index",
    "source",
    "vcf_meta_information",
]


@pytest.mark.parametrize("name", PROPERTIES)
def test_what_a_reader_says(readers, name):
    a, b = (outcome(getattr, reader, name) for reader in readers)
    same(a, b)


def test_fields(readers):
    for name in sorted(readers[0].field_names | readers[0].virtual_field_names):
        a, b = (reader.get_field_info(name) for reader in readers)
        assert (a.name, a.dtype, a.shape, a.dims) == (b.name, b.dtype, b.shape, b.dims)
        same(a.attrs, b.attrs)
    with pytest.raises(KeyError):
        readers[1].get_field_info("variant_x")


def test_what_a_reader_shows(readers):
    a, b = (repr(reader).partition(" store=")[0] for reader in readers)
    assert a == b
    assert "vczc" in repr(readers[1])
    pages = [re.sub(r"Store</th><td.*?</td>", "", reader._repr_html_()) for reader in readers]
    assert pages[0] == pages[1]


def test_everything(readers):
    fields = sorted(readers[0].field_names | readers[0].virtual_field_names)
    assert same_parts(readers, fields=fields) == readers[0].num_variants
    assert same_parts(readers) == readers[0].num_variants


def test_each_field_by_itself(readers):
    for name in sorted(readers[0].field_names):
        if name.startswith(("variant_", "call_")):
            same_parts(readers, fields=list({"variant_position", name}))


def test_rows(readers):
    rows = [list(reader.variants()) for reader in readers]
    assert len(rows[0]) == len(rows[1]) == readers[0].num_variants
    for a, b in zip(*rows, strict=True):
        same(dict(sorted(a.items())), dict(sorted(b.items())))


def test_from_a_later_part(readers):
    same_parts(readers, fields=["variant_position", "variant_id"], start=1)


@pytest.mark.parametrize("settings", [{"readahead_workers": 1}, {"readahead_bytes": 0}], ids=str)
def test_readahead(roots, settings):
    pair = [vcztools.VczReader(root, **settings) for root in roots]
    assert same_parts(pair) == pair[0].num_variants


SAMPLES = {
    "last, first": lambda ids: ([ids[-1], ids[0]], {}),
    "all but one": lambda ids: ([ids[0]], {"complement": True}),
    "none": lambda ids: ([], {}),
    "unknown": lambda ids: (["?", ids[-1]], {"ignore_missing_samples": True}),
    "unknown is an error": lambda ids: (["?"], {}),
    "every third": lambda ids: (ids[::3], {}),
}


@pytest.mark.parametrize("chosen", SAMPLES)
def test_samples(readers, chosen):
    ids, how = SAMPLES[chosen](readers[0].sample_ids.tolist() or ["nobody"])
    set_up = [vcztools.VczReader(reader.root) for reader in readers]
    done = [outcome(reader.set_samples, ids, **how) for reader in set_up]
    assert done[0] == done[1]
    if done[0] is None:
        same(set_up[0].sample_ids, set_up[1].sample_ids)
        same_parts(set_up)


def test_samples_by_index(roots):
    pair = [vcztools.VczReader(root) for root in roots]
    n = pair[0].num_samples
    for reader in pair:
        reader.set_sample_indexes([i % n for i in (2, 0)] if n > 2 else list(range(n)))
    same_parts(pair)


def test_regions_and_targets(roots):
    contig, middle, point = regions_of(roots[0])
    choices = [
        {"regions": [contig]},
        {"regions": [middle, point]},
        {"targets": [middle]},
        {"regions": [contig], "targets": [middle], "targets_complement": True},
    ]
    for choice in choices:
        pair = [vcztools.VczReader(root) for root in roots]
        plans = [outcome(vcztools_regions.build_chunk_plan, reader, **choice) for reader in pair]
        if isinstance(plans[0], tuple):
            assert plans[0] == plans[1]
            continue
        for reader, plan in zip(pair, plans, strict=True):
            reader.set_variants(plan)
        same_parts(pair)


def test_regions_are_those_of_vczc(roots):
    """`vczc.region` finds the rows that vcztools reads."""
    for region in regions_of(roots[0]):
        reader = vcztools.VczReader(roots[1])
        plan = outcome(vcztools_regions.build_chunk_plan, reader, regions=[region])
        if isinstance(plan, tuple):
            assert "region_index" not in roots[1]
            continue
        reader.set_variants(plan)
        theirs = [part["variant_index"] for part in reader.variant_chunks(fields=["variant_index"])]
        ours = [np.arange(r.start, r.stop) for r in vczc.region(roots[1], region)]
        assert np.array_equal(np.concatenate(theirs), np.concatenate(ours))


FILTERS = [
    "POS > 1000",
    'ID != "."',
    "N_ALT > 1",
    'TYPE = "snp"',
    "QUAL > 20 && N_MISSING < 3",
    "FMT/DP > 20",
    "F_MISSING > 0.1",
]


@pytest.mark.parametrize("expression", FILTERS)
def test_filters(roots, expression):
    pair = [vcztools.VczReader(root) for root in roots]
    made = [outcome(vcztools.BcftoolsFilter, reader, include=expression) for reader in pair]
    if isinstance(made[0], tuple):
        assert made[0] == made[1]  # a field that this store does not have
        return
    for reader, chosen in zip(pair, made, strict=True):
        reader.set_variant_filter(chosen)
    same_parts(pair)


def test_readers_side_by_side(roots):
    """32 threads of each of three readers, on one root."""
    root = roots[1]
    expected = list(vcztools.VczReader(root).variant_chunks())
    faults = []

    def check():
        try:
            for a, b in zip(vcztools.VczReader(root).variant_chunks(), expected, strict=True):
                same(a, b)
        except BaseException as err:
            faults.append(err)

    threads = [threading.Thread(target=check) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not faults


# ---- What is written


@pytest.mark.parametrize("settings", [{}, {"no_header": True}, {"header_only": True}], ids=str)
def test_vcf(roots, settings):
    texts = []
    for root in roots:
        out = io.StringIO()
        with vcztools.VczReader(root) as reader:
            texts.append(outcome(vcztools.write_vcf, reader, out, no_version=True, **settings))
        texts.append(out.getvalue())
    assert texts[:2] == texts[2:]
    if texts[0] is not None:
        assert "ascii" in texts[0][1]


def test_counts(roots):
    for write in (vcztools_stats.nrecords, vcztools_stats.stats):
        texts = []
        for root in roots:
            out = io.StringIO()
            texts.append((outcome(write, vcztools.VczReader(root), out), out.getvalue()))
        assert texts[0] == texts[1]


def command(path, args, folder, monkeypatch, opened):
    """What a command prints, how it ends, and the files that it writes."""
    monkeypatch.setattr(vcztools.cli, "open_zarr", lambda *args, **kwargs: opened)
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(vcztools.cli.vcztools_main, [*args, str(path)])
    files = {p.name: p.read_bytes() for p in sorted(folder.iterdir())}
    output = re.sub(r"(?m)^[\d-]+ [\d:,]+ ", "", done.output)  # when a warning was given
    return done.exit_code, output, files


COMMANDS = [
    "view --no-version",
    "view --no-version -H",
    "view --no-version -h",
    "view --no-version -G",
    "view --no-version -r {middle}",
    "view --no-version -r {contig} -t {middle} -s {last},{first}",
    "view --no-version -t ^{middle}",
    "view --no-version -s ^{first}",
    "view --no-version -s {last} -I",
    "view --no-version -i POS>1000",
    "view --no-version -v snps",
    "view --no-version -e N_ALT>1",
    "query -l",
    "query -f %CHROM\\t%POS\\t%ID\\t%REF\\t%ALT\\t%QUAL\\t%FILTER\\n",
    "query -f [%CHROM:%POS\\t%SAMPLE=%GT\\n]",
    "query -f [%DP\\t]\\n -r {middle} -s {first}",
    "query -f %AF\\n",
    "index -n",
    "index -s",
    "view-plink -o out -r {middle} -M 2 -s {last},{first}",
    "view-bgen -o out -M 2 -r {middle} -s {last},{first}",
    "view --no-version -s ?",
    "view --no-version -r ?:1-2",
    "query -f %NONE",
]


@pytest.mark.parametrize("line", COMMANDS)
def test_command_line(path, roots, tmp_path, monkeypatch, line):
    contig, middle, _ = regions_of(roots[0])
    ids = [name for name in roots[0]["sample_id"][:].tolist() if name] or ["-"]
    places = {"contig": contig, "middle": middle, "first": ids[0], "last": ids[-1]}
    args = [arg.format_map(places) if "{" in arg else arg for arg in line.split(" ")]
    results = []
    for name, root in zip(("zarr", "vczc"), roots, strict=True):
        folder = tmp_path / name
        folder.mkdir()
        results.append(command(path, args, folder, monkeypatch, root))
    assert results[0] == results[1]
    if path.is_dir():  # those hold nothing that vcztools cannot write
        status, text, files = results[1]
        assert (status == 0) != ("?" in line or "NONE" in line)
        assert text or files
