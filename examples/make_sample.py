#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Make sample.vcf and sample.vcz.zip, the small data set of the documentation and the tests.

    pip install "bio2zarr[vcf]==0.2.1"
    python make_sample.py [FOLDER]

The records are drawn from a seeded generator, so that every run writes the same bytes. They are
no real data; they hold what readers stumble over: contig names with colons, a contig without
records, deletions that reach into the next chunk, every type and number of a field, missing and
half-missing calls, haploid calls, values left out at every level, and a flag that no record sets,
whose array has no chunks.
"""

import pathlib
import random
import sys
import tempfile
import zipfile

VARIANTS_CHUNK, SAMPLES_CHUNK = 100, 5

# Name, length, number of records. The colons of an HLA contig are part of its name.
CONTIGS = [
    ("20", 64_444_167, 190),
    ("21", 46_709_983, 60),
    ("MT", 16_569, 0),
    ("X", 156_040_895, 85),
    ("HLA-DRB1*15:01:01:01", 11_080, 25),
]
SAMPLES = ["NA06984", "NA06985", "NA06986", "HG00096", "HG00097", "HG-100_1", "s 7", "Zoë"]
SAMPLES += ["TRIO1-mother", "TRIO1-father", "TRIO1-child", "TRIO2-mother", "TRIO2-father"]
MALES = {2, 3, 6, 9}  # one allele on X

HEADER = """\
##fileformat=VCFv4.3
##source=make_sample.py
##FILTER=<ID=PASS,Description="All filters passed">
##FILTER=<ID=q10,Description="Quality below 10">
##FILTER=<ID=s50,Description="Fewer than half of the samples called">
##ALT=<ID=DEL,Description="Deletion">
##INFO=<ID=NS,Number=1,Type=Integer,Description="Samples with a call">
##INFO=<ID=DP,Number=1,Type=Integer,Description="Total depth">
##INFO=<ID=AC,Number=A,Type=Integer,Description="Alternate allele counts">
##INFO=<ID=AF,Number=A,Type=Float,Description="Alternate allele frequencies">
##INFO=<ID=AD,Number=R,Type=Integer,Description="Depth of each allele">
##INFO=<ID=GC,Number=G,Type=Integer,Description="Genotype counts">
##INFO=<ID=MQ,Number=1,Type=Float,Description="Mapping quality">
##INFO=<ID=CI,Number=2,Type=Integer,Description="Confidence interval around POS">
##INFO=<ID=BIAS,Number=2,Type=Float,Description="Strand and position bias">
##INFO=<ID=RANKS,Number=.,Type=Float,Description="Rank sums">
##INFO=<ID=DB,Number=0,Type=Flag,Description="In a database">
##INFO=<ID=SOMATIC,Number=0,Type=Flag,Description="Somatic; set for no record">
##INFO=<ID=AA,Number=1,Type=Character,Description="Ancestral allele">
##INFO=<ID=ENDS,Number=2,Type=Character,Description="First and last base of REF">
##INFO=<ID=GENE,Number=1,Type=String,Description="Gene">
##INFO=<ID=NOTE,Number=1,Type=String,Description="Free text, in several scripts">
##INFO=<ID=EFF,Number=A,Type=String,Description="Effect of each alternate allele">
##INFO=<ID=CSQ,Number=.,Type=String,Description="Consequences">
##INFO=<ID=END,Number=1,Type=Integer,Description="Last position">
##INFO=<ID=SVTYPE,Number=1,Type=String,Description="Type of structural variant">
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Depth">
##FORMAT=<ID=GQ,Number=1,Type=Integer,Description="Genotype quality">
##FORMAT=<ID=AD,Number=R,Type=Integer,Description="Depth of each allele">
##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Scaled likelihoods">
##FORMAT=<ID=PS,Number=1,Type=Integer,Description="Phase set">
##FORMAT=<ID=HQ,Number=2,Type=Integer,Description="Haplotype qualities">
##FORMAT=<ID=DS,Number=A,Type=Float,Description="Dosage">
##FORMAT=<ID=LOD,Number=1,Type=Float,Description="Log odds">
##FORMAT=<ID=FT,Number=1,Type=String,Description="Filter of the call">
##FORMAT=<ID=TAG,Number=.,Type=String,Description="Labels">
##FORMAT=<ID=ST,Number=1,Type=Character,Description="Strand">
##FORMAT=<ID=BS,Number=2,Type=Character,Description="Bases seen">
"""

GENES = ["ABCA7", "BRCA2", "HBB", "TTN", "DMD", "OR4F5", "HLA-DRB1"]
NOTES = ["checked", "naïve", "übergroß", "вариант", "変異", "🧬", "see_ref_12", "x" * 300]
EFFECTS = ["missense", "synonymous", "stop_gained", "frameshift", "intron"]


class Draw:
    """Draws from random() alone, the one method whose sequence Python promises to keep."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def chance(self, p):
        return self.random() < p

    def below(self, n):
        return int(self.random() * n)

    def choice(self, items):
        return items[self.below(len(items))]

    def bases(self, n):
        return "".join(self.choice("ACGT") for _ in range(n))

    def maybe(self, p, value):
        """The value, or `.` with a chance of p."""
        return "." if self.chance(p) else str(value)

    def values(self, n, one, missing=0.1):
        """`n` values with commas between them, any of which may be missing."""
        return ",".join(self.maybe(missing, one()) for _ in range(n))

    def number(self, low, high, digits=3):
        return f"{low + (high - low) * self.random():.{digits}g}"


def draw_alleles(draw):
    """REF, the list of ALT, and whether it is a structural deletion."""
    kind = draw.random()
    ref = draw.choice("ACGT")
    if kind < 0.70:
        others = [b for b in "ACGT" if b != ref]
        several = 1 + draw.chance(0.15) + draw.chance(0.06)
        return ref, others[:several], False
    if kind < 0.80:
        return (
            ref,
            [ref + draw.bases(1 + draw.below(12)) for _ in range(1 + draw.chance(0.2))],
            False,
        )
    if kind < 0.90:
        return ref + draw.bases(1 + draw.below(15)), [ref], False
    if kind < 0.93:
        return ref, [ref + draw.bases(150 + draw.below(150))], False
    if kind < 0.95:
        return ref + draw.bases(100 + draw.below(200)), [ref, "*"], False
    if kind < 0.98:
        return ref, [], False
    return ref, ["<DEL>"], True


def draw_genotype(draw, nalleles, haploid, phased):
    def allele():
        return "." if draw.chance(0.04) else str(draw.below(nalleles) if draw.chance(0.4) else 0)

    if draw.chance(0.05):
        return "." if haploid else draw.choice(["./.", ".", ".|."])
    if haploid:
        return allele()
    return allele() + ("|" if draw.chance(0.9 if phased else 0.1) else "/") + allele()


def draw_info(draw, position, length, ref, alt, structural):
    nalt = len(alt)
    info = []
    if structural:
        info += [f"END={position + length - 1}", "SVTYPE=DEL"]
    info.append(f"DP={draw.maybe(0.1, draw.below(40_000))}")
    optional = [
        ("NS", 0.8, lambda: draw.below(len(SAMPLES) + 1)),
        ("AC", 0.7, lambda: draw.values(nalt, lambda: draw.below(27))),
        ("AF", 0.7, lambda: draw.values(nalt, lambda: draw.number(0, 1))),
        ("AD", 0.4, lambda: draw.values(nalt + 1, lambda: draw.below(300))),
        ("GC", 0.2, lambda: draw.values((nalt + 1) * (nalt + 2) // 2, lambda: draw.below(14))),
        ("MQ", 0.6, lambda: draw.maybe(0.1, draw.number(0, 60))),
        ("CI", 0.2, lambda: draw.values(2, lambda: draw.below(100) - 50)),
        ("BIAS", 0.3, lambda: draw.values(2, lambda: draw.number(-4, 4))),
        ("RANKS", 0.2, lambda: draw.values(1 + draw.below(4), lambda: draw.number(-1e6, 1e6))),
        ("AA", 0.4, lambda: draw.choice("ACGT")),
        ("ENDS", 0.3, lambda: f"{ref[0]},{ref[-1]}"),
        ("GENE", 0.3, lambda: draw.choice(GENES)),
        ("NOTE", 0.1, lambda: draw.choice(NOTES)),
        ("EFF", 0.2, lambda: draw.values(nalt, lambda: draw.choice(EFFECTS))),
        ("CSQ", 0.2, lambda: draw.values(1 + draw.below(3), lambda: draw.choice(EFFECTS))),
    ]
    per_alt = {"AC", "AF", "EFF"}
    info += [
        f"{k}={value()}"
        for k, p, value in optional
        if draw.chance(p) and (nalt or k not in per_alt)
    ]
    info += ["DB"] if draw.chance(0.4) else []
    return ";".join(info) if draw.chance(0.97) else (";".join(info[:2]) if structural else ".")


def draw_calls(draw, contig, alt):
    """The FORMAT column and those of the samples."""
    nalt = len(alt)
    phased = draw.chance(0.5)
    chances = {"DP": 0.6, "GQ": 0.5, "AD": 0.2, "PL": 0.12, "PS": 0.08, "HQ": 0.1, "DS": 0.2}
    chances |= {"LOD": 0.12, "FT": 0.1, "TAG": 0.08, "ST": 0.08, "BS": 0.06}
    keys = [k for k, p in chances.items() if draw.chance(p) and (nalt or k != "DS")]
    calls = []
    for i in range(len(SAMPLES)):
        haploid = contig == "X" and i in MALES
        ngenotypes = nalt + 1 if haploid else (nalt + 1) * (nalt + 2) // 2
        value = {
            "DP": lambda: draw.maybe(0.05, draw.below(90)),
            "GQ": lambda: draw.maybe(0.05, draw.below(100)),
            "AD": lambda: draw.values(nalt + 1, lambda: draw.below(60), 0.05),
            "PL": lambda n=ngenotypes: draw.values(n, lambda: draw.below(900), 0.02),
            "PS": lambda: draw.maybe(0.2, 1_000_000 + 37 * draw.below(50)),
            "HQ": lambda: draw.values(2, lambda: draw.below(60)),
            "DS": lambda: draw.values(nalt, lambda: draw.number(0, 2)),
            "LOD": lambda: draw.maybe(0.2, draw.number(-30, 30)),
            "FT": lambda: draw.choice([".", "PASS", "PASS", "q10", "q10&s50"]),
            "TAG": lambda: draw.values(
                1 + draw.below(3), lambda: draw.choice(["a", "bb", "low-map"]), 0.2
            ),
            "ST": lambda: draw.choice("+-."),
            "BS": lambda: draw.values(2, lambda: draw.choice("ACGT")),
        }
        call = [draw_genotype(draw, nalt + 1, haploid, phased)] + [value[k]() for k in keys]
        while len(call) > 1 and draw.chance(0.03):
            call.pop()  # trailing values may be left out
        calls.append(":".join(call))
    return [":".join(["GT", *keys]), *calls]


def draw_record(draw, contig, position, contig_length):
    ref, alt, structural = draw_alleles(draw)
    length = min(200 + draw.below(40_000), contig_length - position + 1) if structural else len(ref)
    name = f"rs{1000 + draw.below(10**8)}" if draw.chance(0.6) else "."
    name += ";alias" if name != "." and draw.chance(0.1) else ""
    quality = draw.maybe(0.1, draw.number(0, 3000, 5))
    filters = draw.choice(["PASS", "PASS", "PASS", "q10", "s50", "q10;s50", "."])
    info = draw_info(draw, position, length, ref, alt, structural)
    fixed = [contig, str(position), name, ref, ",".join(alt) or ".", quality, filters, info]
    return "\t".join(fixed + draw_calls(draw, contig, alt))


def vcf_text():
    """The whole of sample.vcf."""
    draw = Draw(20)
    lines = [HEADER.rstrip("\n")]
    lines += [f"##contig=<ID={name},length={length}>" for name, length, _ in CONTIGS]
    columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
    lines.append("\t".join(columns + SAMPLES))
    for contig, length, count in CONTIGS:
        position = 1 if length < 20_000 else 60_000
        for _ in range(count):
            # Some records share a position; none leaves the contig.
            position += (
                0 if draw.chance(0.05) else 1 + draw.below(min(length // (count + 1), 2_000))
            )
            lines.append(draw_record(draw, contig, position, length))
    return "\n".join(lines) + "\n"


def split_by_contig(text, folder):
    """One file for each contig: bio2zarr reads those without an index."""
    lines = text.splitlines(keepends=True)
    header = [line for line in lines if line.startswith("#")]
    paths = []
    for number, (contig, _, count) in enumerate(CONTIGS):
        records = [line for line in lines if line.startswith(contig + "\t")]
        if count:
            paths.append(folder / f"{number}.vcf")
            paths[-1].write_text("".join(header + records), encoding="utf-8")
    return paths


def zip_store(folder, target):
    """Stored, not deflated: readers map the chunks. Documents first, one fixed time for all."""
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    files.sort(key=lambda name: (not name.rpartition("/")[2].startswith(".z"), "/" in name))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in files:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (folder / name).read_bytes())


def main():
    import bio2zarr.vcf  # here, so that the text can be made without it

    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    folder = folder if folder.is_dir() else folder.parent
    text = vcf_text()
    (folder / "sample.vcf").write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        store = work / "sample.vcz"
        bio2zarr.vcf.convert(
            split_by_contig(text, work),
            store,
            variants_chunk_size=VARIANTS_CHUNK,
            samples_chunk_size=SAMPLES_CHUNK,
            zarr_format=2,
        )
        zip_store(store, folder / "sample.vcz.zip")


if __name__ == "__main__":
    main()
