# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Compilers and what goes with them, for the tests that build programs."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vczc

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
SAMPLE = EXAMPLES / "sample.vcz.zip"

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def tool(*names):
    """The first of the programs that is here; without one, skip."""
    for name in names:
        if name and shutil.which(shlex.split(name)[0]):
            return shlex.split(name)
    pytest.skip(f"no {names[-1]} here")


def run(*command, **options):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def cc_flags(*options):
    return shlex.split(run(sys.executable, "-m", "vczc.cli", "cc-flags", *options, cwd=ROOT))


def shown_names(path, *options):
    """What the linker sees of a library."""
    lines = run(*tool("nm"), "-g", "-P", *options, path).splitlines()
    names = [line.split() for line in lines if line and not line.endswith(":")]
    names = [words[0].partition("@")[0] for words in names if words[1] not in "UwvA"]
    return {name.removeprefix("_") if sys.platform == "darwin" else name for name in names}


# ---- A program to build: it counts the alleles of one block

BLOCK_C = r"""
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vczc.h>

int main(int argc, char **argv) {
    vczc_store_t *store = NULL;
    vczc_array_t *gt = NULL;
    int64_t coords[3] = {0, 0, 0}, shape[3], counts[3] = {0, 0, 0}, i, n;
    signed char *alleles = NULL;
    int ret = argc == 4 ? vczc_store_open(&store, argv[1], 0) : VCZC_ERR_ARGUMENT;
    if (ret == 0) ret = vczc_array_open(&gt, store, "call_genotype");
    if (ret == 0) {
        const size_t nbytes = (size_t) vczc_array_info(gt)->chunk_nbytes;
        coords[0] = strtoll(argv[2], NULL, 10);
        coords[1] = strtoll(argv[3], NULL, 10);
        alleles = malloc(nbytes);
        ret = vczc_array_block_shape(gt, coords, shape);
        if (ret == 0) ret = vczc_array_read_block(gt, coords, alleles, nbytes);
    }
    if (ret == 0) {
        n = shape[0] * shape[1] * shape[2];
        for (i = 0; i < n; i++) counts[alleles[i] == 0 ? 0 : alleles[i] > 0 ? 1 : 2]++;
        printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", counts[0], counts[1], counts[2]);
    } else {
        fprintf(stderr, "%s: %s\n", vczc_strerror(ret), vczc_error_detail());
    }
    free(alleles);
    vczc_array_close(gt);
    vczc_store_close(store);
    return ret == 0 ? 0 : 1;
}
"""


def block_c(folder):
    """The source of that program."""
    source = Path(folder) / "block.c"
    source.write_text(BLOCK_C, encoding="utf-8")
    return source


def check_block(program, **options):
    """It says of the last chunk of the sample what Python says."""
    block = vczc.open(SAMPLE)["call_genotype"].blocks[3, 2]
    counts = (block == 0).sum(), (block > 0).sum(), (block < 0).sum()
    assert run(program, SAMPLE, 3, 2, **options) == "{} {} {}\n".format(*counts)
