# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`vczc tree`: the groups and arrays of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.utils import format_filename

import vczc
from vczc.cli.sources import Walk, path_argument
from vczc.cli.terminal import (
    dimensions,
    drawing_console,
    json_option,
    one_line,
    print_json,
    type_name,
)

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree


@click.command(name="tree")
@path_argument
@json_option
def command(path: str, as_json: bool) -> int:
    """Show the groups and arrays of PATH.

    What is damaged is named in its place, and makes exit status 1; what vczc does not read, 2.
    """
    root = vczc.open(path)
    walk = Walk()
    if as_json:
        print_json(as_document(root, walk))
        return walk.status
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(format_filename(path, shorten=True), "bold"), guide_style="dim")
    if isinstance(root, vczc.Array):
        tree.add(leaf("/", root, 0, 0, 0))
    else:
        add_children(tree, root, walk)
    drawing_console().print(tree, no_wrap=True, crop=False, soft_wrap=True)
    return walk.status


def add_children(tree: Tree, group: vczc.Group, walk: Walk) -> None:
    """The children of a group, their shapes and types in columns of their own."""
    from rich.text import Text

    found = list(walk.children(group))
    arrays = [(name, a) for name, a in found if isinstance(a, vczc.Array)]
    name_width = max((len(name) for name, _ in arrays), default=0)
    shape_width = max((len(dimensions(a.shape)) for _, a in arrays), default=0)
    type_width = max((len(type_name(a.dtype)) for _, a in arrays), default=0)
    for name, child in found:
        if isinstance(child, vczc.Array):
            tree.add(leaf(name, child, name_width, shape_width, type_width))
        elif isinstance(child, vczc.Group):
            add_children(tree.add(Text(name, "bold")), child, walk)
        else:
            tree.add(Text(f"{name.ljust(name_width)}  {one_line(child)}", "red"))


def leaf(name: str, array: vczc.Array, name_width: int, shape_width: int, type_width: int) -> Text:
    from rich.text import Text

    return Text.assemble(
        (name.ljust(name_width), "cyan"),
        "  ",
        dimensions(array.shape).rjust(shape_width),
        "  ",
        (type_name(array.dtype).ljust(type_width), "green"),
        "  ",
        (", ".join(d or "·" for d in array.dims or ()), "dim"),
    )


def as_document(node: vczc.Group | vczc.Array | vczc.Error, walk: Walk) -> dict[str, Any]:
    """The node and what is below it, as `--json` prints it."""
    if isinstance(node, vczc.Group):
        below = {name: as_document(child, walk) for name, child in walk.children(node)}
        return {"type": "group", "children": below}
    if isinstance(node, vczc.Error):
        return {"type": "unreadable", "reason": one_line(node)}
    return {
        "type": "array",
        "shape": node.shape,
        "chunks": node.chunks,
        "dtype": type_name(node.dtype),
        "dims": node.dims,
    }
