# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Stores to time readers on: simulated calls in the layout that bio2zarr 0.2 writes (Zarr v2).

The haplotypes stand in an order, and the carriers of an allele are a stretch of it: a clade. Which
stretches there are is fixed by splitting the order again and again, and a split is as likely to
be taken at each depth, so that rare alleles are many (about 1/n, as under neutrality). From one
variant to the next a few stretches move to other places: recombination. So nearby variants are
correlated and far ones are not, which is what decides how well genotypes compress.
"""

from __future__ import annotations

import json
import time
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

SEED = 20
NALLELES = 3  # at most, at a variant
NGENOTYPES = NALLELES * (NALLELES + 1) // 2
EPOCH = (2024, 1, 1, 0, 0, 0)  # of the entries of archives

CALLS = ("variants", "samples")
BITS, BYTES = 2, 1  # bio2zarr shuffles genotypes and masks by bits, all else by bytes


@dataclass(frozen=True)
class Size:
    samples: int
    variants: int
    chunks: tuple[int, int]
    heavy: int  # chunks along variants of the fields of many bytes; the others are absent
    text: int  # mean bytes of the long text
    entries: int  # chunks of the archive that has many
    unphased: bool = False  # as low-coverage sequencing gives them: wrong and missing calls


SIZES = {
    "tiny": Size(30, 250, (100, 20), 2, 40, 50),
    "small": Size(500, 4_000, (500, 500), 4, 100, 20_000),
    "wide": Size(10_000, 16_000, (1_000, 10_000), 2, 400, 300_000),
}


def make_store(path: Path, size: Size, log: Callable[[str], None]) -> None:
    """A directory store; `path` is not there yet."""
    import zarr

    root = zarr.open_group(path, mode="w", zarr_format=2)
    root.attrs.update({"vcf_zarr_version": "0.5", "source": "vczc benchmarks"})
    writer = Writer(root, size)
    writer.create_all()
    begin = time.monotonic()
    for index, (start, stop, genotypes) in enumerate(genotype_chunks(size)):
        writer.write(index, start, stop, genotypes)
        log(f"{stop:,} of {size.variants:,} variants, {time.monotonic() - begin:.0f} s")


def make_zip(source: Path, target: Path) -> None:
    """The stored archive of a directory store, the documents of each array before its chunks."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(p for p in source.rglob("*") if p.is_file()):
            archive.write(file, file.relative_to(source).as_posix())


def make_archive_of_many(target: Path, nchunks: int) -> None:
    """A stored archive with one array, `a`, of raw chunks of 16 bytes; a[i] == i."""
    document = {
        "zarr_format": 2,
        "shape": [4 * nchunks],
        "chunks": [4],
        "dtype": "<i4",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }
    data = np.arange(4 * nchunks, dtype="<i4").tobytes()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(".zgroup", EPOCH), '{"zarr_format": 2}')
        archive.writestr(zipfile.ZipInfo("a/.zarray", EPOCH), json.dumps(document))
        for i in range(nchunks):
            archive.writestr(zipfile.ZipInfo(f"a/{i}", EPOCH), data[16 * i : 16 * i + 16])


class Haplotypes:
    """The carriers of allele after allele, along a chromosome."""

    def __init__(self, count: int, rng: np.random.Generator) -> None:
        self.count = count
        self.rng = rng
        self.order = rng.permutation(count)
        self.levels = [np.array([0, count])]
        while len(self.levels) < 2 + int(np.log2(count)):
            self.levels.append(self.split(self.levels[-1]))

    def split(self, bounds: NDArray[np.intp]) -> NDArray[np.intp]:
        cuts = bounds[:-1] + np.diff(bounds) * self.rng.beta(2, 2, len(bounds) - 1)
        return np.union1d(bounds, cuts.astype(np.intp))

    def carriers(self) -> NDArray[np.intp]:
        bounds = self.levels[self.rng.integers(1, len(self.levels))]
        i = self.rng.integers(0, len(bounds) - 1)
        return self.order[bounds[i] : bounds[i + 1]]

    def recombine(self) -> None:
        """Move a stretch of the order, mostly a short one."""
        length = int(self.count ** (0.8 * self.rng.random()))
        start = self.rng.integers(0, self.count - length + 1)
        moved = self.order[start : start + length]
        rest = np.delete(self.order, np.s_[start : start + length])
        place = self.rng.integers(0, len(rest) + 1)
        self.order = np.concatenate([rest[:place], moved, rest[place:]])


def genotype_chunks(size: Size) -> Iterator[tuple[int, int, NDArray[np.int8]]]:
    """The first and the last variant of each chunk, and its calls."""
    rng = np.random.default_rng([SEED, 1])
    haplotypes = Haplotypes(2 * size.samples, rng)
    for start in range(0, size.variants, size.chunks[0]):
        stop = min(start + size.chunks[0], size.variants)
        calls = np.zeros((stop - start, 2 * size.samples), np.int8)
        for row in calls:
            row[haplotypes.carriers()] = 1
            if rng.random() < 0.03:  # a third allele
                row[haplotypes.carriers()] = 2
            haplotypes.recombine()
        genotypes = calls.reshape(stop - start, size.samples, 2)
        yield start, stop, spoiled(genotypes, rng) if size.unphased else genotypes


def spoiled(genotypes: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int8]:
    """Without phase, and with calls that are wrong or missing, more at some variants."""
    genotypes = np.sort(genotypes, axis=2)
    chance = rng.random(genotypes.shape[:2], np.float32)
    wrong = chance < rng.exponential(0.1, (len(genotypes), 1))
    genotypes[wrong] = np.sort(rng.integers(0, 2, (np.count_nonzero(wrong), 2)), axis=1)
    genotypes[chance > 1 - rng.exponential(0.1, (len(genotypes), 1))] = -1
    return genotypes


class Writer:
    """The arrays of a store. Each chunk along variants has random numbers of its own."""

    def __init__(self, root: Any, size: Size) -> None:
        self.root = root
        self.size = size
        rng = np.random.default_rng([SEED, 2])
        self.coverage = rng.gamma(16, 2, size.samples).astype(np.float32)
        self.position = 10_000

    def create(
        self, name: str, dtype: Any, dims: tuple[str, ...], shuffle: int = BYTES, fill: Any = None
    ) -> Any:
        from numcodecs import Blosc

        lengths = {
            "variants": (self.size.variants, self.size.chunks[0]),
            "samples": (self.size.samples, self.size.chunks[1]),
            "ploidy": (2, 2),
            "alleles": (NALLELES, NALLELES),
            "genotypes": (NGENOTYPES, NGENOTYPES),
            "contigs": (1, 1),
        }
        shape, chunks = zip(*(lengths[d] for d in dims), strict=True)
        return self.root.create_array(
            name,
            shape=shape,
            chunks=chunks,
            dtype=dtype,
            fill_value=fill,
            compressors=Blosc(cname="zstd", clevel=7, shuffle=shuffle),
            attributes={"_ARRAY_DIMENSIONS": list(dims)},
        )

    def create_all(self) -> None:
        self.create("contig_id", str, ("contigs",))[:] = np.array(["20"], object)
        ids = [f"HG{i:06d}" for i in range(self.size.samples)]
        self.create("sample_id", str, ("samples",))[:] = np.array(ids, object)
        self.create("variant_contig", "i1", ("variants",))
        self.create("variant_position", "i4", ("variants",))
        self.create("variant_allele", str, ("variants", "alleles"))
        self.create("variant_id", str, ("variants",))
        self.create("variant_CSQ", str, ("variants",))
        self.create("call_genotype", "i1", (*CALLS, "ploidy"), BITS)
        self.create("call_genotype_mask", bool, (*CALLS, "ploidy"), BITS)
        self.create("call_genotype_phased", bool, CALLS, BITS)
        self.create("call_DP", "i2", CALLS, fill=-1)
        self.create("call_GQ", "i1", CALLS, fill=-1)
        self.create("call_PL", "i4", (*CALLS, "genotypes"), fill=-1)
        self.create("call_DS", "f4", CALLS, fill=np.nan)

    def write(self, index: int, start: int, stop: int, genotypes: NDArray[np.int8]) -> None:
        rng = np.random.default_rng([SEED, 3, index])
        rows = slice(start, stop)
        multiallelic = (genotypes == 2).any(axis=(1, 2))
        self.root["variant_contig"][rows] = 0
        self.root["variant_position"][rows] = self.positions(rng, stop - start)
        self.root["variant_allele"][rows] = alleles(rng, multiallelic)
        self.root["variant_id"][rows] = ids(rng, stop - start)
        self.root["variant_CSQ"][rows] = consequences(rng, stop - start, self.size.text)
        self.root["call_genotype"][rows] = genotypes
        self.root["call_genotype_mask"][rows] = genotypes < 0
        self.root["call_genotype_phased"][rows] = not self.size.unphased
        depth = self.depth(rng, stop - start)
        self.root["call_DP"][rows] = depth
        noise = rng.integers(-8, 9, depth.shape, np.int8)
        quality = np.clip(3 * depth + noise, 0, 99)
        self.root["call_GQ"][rows] = np.where(genotypes[..., 0] < 0, -1, quality)
        if index < self.size.heavy:
            dosage = np.minimum(genotypes.clip(0), 1).sum(axis=2, dtype=np.int8)
            self.root["call_PL"][rows] = likelihoods(rng, depth, dosage, multiallelic)
            error = rng.exponential(0.005, dosage.shape).astype(np.float32)
            exact = np.where(dosage == 2, 2 - error, dosage + error)
            self.root["call_DS"][rows] = np.round(exact.clip(0, 2), 3)

    def positions(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        made = self.position + np.cumsum(rng.geometric(1 / 240, count))
        self.position = int(made[-1])
        return made

    def depth(self, rng: np.random.Generator, count: int) -> NDArray[np.int16]:
        mean = self.coverage * rng.normal(1, 0.1, (count, 1)).clip(0.3).astype(np.float32)
        spread = np.sqrt(mean) * rng.standard_normal(mean.shape, np.float32)
        made: NDArray[np.int16] = np.clip(mean + spread, 0, 1_000).astype(np.int16)
        return made


def likelihoods(
    rng: np.random.Generator,
    depth: NDArray[np.int16],
    dosage: NDArray[np.int8],
    multiallelic: NDArray[np.bool_],
) -> NDArray[np.int32]:
    """As reads of quality 27 have it: 27 for each that is wrong, 3 for each if heterozygous."""
    share = dosage / np.float32(2) + rng.normal(0, 0.08, depth.shape) * (dosage == 1)
    alternate = np.rint(depth * share).astype(np.int32).clip(0, depth)
    made = np.full((*depth.shape, NGENOTYPES), -2, np.int32)
    made[..., 0] = 27 * alternate
    made[..., 1] = 3 * depth
    made[..., 2] = 27 * (depth - alternate)
    made[multiallelic, :, 3:] = 27 * depth[multiallelic, :, np.newaxis]
    made[..., :3] -= made[..., :3].min(axis=2, keepdims=True)
    return made


def alleles(rng: np.random.Generator, multiallelic: NDArray[np.bool_]) -> NDArray[Any]:
    """Two of the bases, or three; one variant in ten is an insertion or a deletion."""
    made = np.full((len(multiallelic), NALLELES), "", object)
    for row, many in zip(made, multiallelic, strict=True):
        bases = rng.permutation(list("ACGT"))[: 2 + many]
        row[: len(bases)] = [str(base) for base in bases]
        if rng.random() < 0.1:
            length = min(1 + int(2 * rng.pareto(1.2)), 500)
            row[rng.integers(0, 2)] += "".join(rng.choice(list("ACGT"), length))
    return made


def ids(rng: np.random.Generator, count: int) -> NDArray[Any]:
    numbers = rng.integers(1_000, 1_600_000_000, count)
    named = rng.random(count) < 0.9
    made = [f"rs{n}" if is_named else "." for n, is_named in zip(numbers, named, strict=True)]
    return np.array(made, object)


def consequences(rng: np.random.Generator, count: int, mean_nbytes: int) -> NDArray[Any]:
    """Such text as annotators write: terms that recur, of genes that do not."""
    terms = [
        "intron_variant|MODIFIER",
        "missense_variant|MODERATE",
        "synonymous_variant|LOW",
        "downstream_gene_variant|MODIFIER",
        "protein_coding||||||",
        "tolerated(0.4)|benign(0.02)",
    ]
    made = []
    for _ in range(count):
        words: list[str] = []
        for _ in range(rng.geometric(min(1, 35 / mean_nbytes))):
            words += [str(rng.choice(terms)), f"ENST{rng.integers(0, 500_000):011d}"]
        made.append("|".join(words))
    return np.array(made, object)
