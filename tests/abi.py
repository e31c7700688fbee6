# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The binary interface of libvczc as a list: `python tests/abi.py` writes it to tests/abi.txt.

Read out of vczc.h, and measured by a C program that is compiled for a machine of 64 bits.
"""

import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = ROOT / "csrc" / "include" / "vczc.h"
LIST = ROOT / "tests" / "abi.txt"


def header_text():
    """The header without comments and without the version, which changes by itself."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"^#define VCZC_VERSION_.*$", "", text, flags=re.MULTILINE)


# Structs that may grow at the end: their own size is not part of the interface.
GROWING = (
    *("vczc_allocator_t", "vczc_array_info_t", "vczc_batch_options_t", "vczc_callbacks_t"),
    "vczc_node_info_t",
)


def functions():
    """Each declaration in one line."""
    found = re.findall(r"^VCZC_API\s+([^;]*);", header_text(), re.MULTILINE)
    return sorted(re.sub(r"\s+", " ", declaration) for declaration in found)


def callbacks():
    found = re.findall(r"^(typedef [^;{]*\(\*\w+\)\([^;]*\));", header_text(), re.MULTILINE)
    return sorted(re.sub(r"\s+", " ", declaration) for declaration in found)


def constants():
    text = header_text()
    names = re.findall(r"\b(VCZC_\w+)\s*=", text)
    return [*names, *re.findall(r"^#define (VCZC_(?:MAX|ERR|CONTIG)_\w+)", text, re.MULTILINE)]


def structs():
    """Name -> members of each struct that is not opaque."""
    found = {}
    for body, name in re.findall(r"typedef struct \{(.*?)\n\} (\w+);", header_text(), re.DOTALL):
        body = re.sub(r"\s+", " ", body)
        found[name] = [
            _member(declaration) for declaration in body.split(";") if declaration.strip()
        ]
    return found


def _member(declaration):
    function = re.search(r"\(\*(\w+)\)\(", declaration)
    return function[1] if function else re.search(r"(\w+)(?:\[\w+\])?\s*$", declaration)[1]


def measured():
    """Lines of values, sizes and offsets, as a compiler has them."""
    lines = [f'printf("constant {name} = %lld\\n", (long long) {name});' for name in constants()]
    for name, members in structs().items():
        if name in GROWING:
            lines.append(f'printf("struct {name}: grows\\n");')
        else:
            lines.append(f'printf("struct {name}: %zu bytes\\n", sizeof({name}));')
        for member in members:
            size = f"sizeof((({name} *) 0)->{member})"
            lines.append(
                f'printf("struct {name}.{member}: at %zu, %zu bytes\\n",'
                f" offsetof({name}, {member}), {size});"
            )
    source = (
        "#include <stdio.h>\n#include <vczc.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "abi.c"
        path.write_text(source)
        command = [*shlex.split(os.environ.get("CC", "cc")), f"-I{HEADER.parent}", str(path)]
        subprocess.run([*command, "-o", str(path.with_suffix(""))], check=True)
        return subprocess.run(
            [path.with_suffix("")], capture_output=True, text=True, check=True
        ).stdout.splitlines()


def lines():
    made = [f"function {declaration}" for declaration in functions()]
    made += [f"callback {declaration}" for declaration in callbacks()]
    return [*made, *sorted(measured())]


def main():
    head = "# The binary interface of libvczc on machines of 64 bits; written by tests/abi.py.\n"
    LIST.write_text(head + "".join(f"{line}\n" for line in lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
