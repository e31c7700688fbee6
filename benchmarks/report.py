# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The results as tables: in full on the terminal, and ratios to vczc as Markdown."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from vczc.cli.terminal import console, duration, plural, print_table, styled, table

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE = "vczc"
QUIET = 0.1  # of the processors: what others may take before their time counts for nothing
WRONG = "WRONG: returns other values"

Document = dict[str, Any]


def all_tasks(document: Document) -> Iterator[Document]:
    for run in document["runs"]:
        yield from run["tasks"]
    yield from document["opening"]


def others(tasks: list[Document]) -> float | None:
    """The share of the processors that others took, in the middle of the tasks."""
    known = [task["others"] for task in tasks if task["others"] is not None]
    return statistics.median(known) if known else None


def basis(tasks: list[Document], threads: int) -> str:
    """Which time to compare. With other programs about, that of the clock is partly theirs.

    With more threads than one it is the clock all the same: that is what they are for.
    """
    return "cpu" if threads == 1 and (others(tasks) or 0) > QUIET else "wall"


def ratio(task: Document, reader: str, which: str) -> float | None:
    """The reader's time over that of vczc."""
    results = task["results"]
    if reader not in results or BASE not in results:
        return None
    return float(results[reader][which] / max(results[BASE][which], 1e-9))


def speed(task: Document, seconds: float) -> str:
    """What the time comes to for one of what the task reads."""
    if task["unit"] == "value":
        return f"{task['nbytes'] / max(seconds, 1e-9) / 1e9:.3g} GB/s"
    each = seconds / task["nunits"]
    if task["unit"] in ("read", "open"):
        return duration(each)
    return f"{each * 1e9:.0f} ns each" if each < 1e-6 else f"{duration(each)} each"


def times(value: float | None) -> str:
    if value is None:
        return ""
    return (
        f"{value:.0f} ×"
        if value >= 9.95
        else f"{value:.1f} ×"
        if value >= 1.95
        else f"{value:.2f} ×"
    )


def megabytes(nbytes: int | None) -> str:
    return "" if nbytes is None else f"{nbytes / 1e6:.0f} MB"


def order(document: Document) -> list[str]:
    """The readers in the order in which they took part."""
    names: dict[str, None] = {}
    for run in document["runs"]:
        names.update(dict.fromkeys(run["readers"]))
    for task in all_tasks(document):
        names.update(dict.fromkeys([*task["results"], *task["wrong"]]))
    return list(names)


def sections(document: Document) -> Iterator[tuple[str, list[Document], int]]:
    for run in document["runs"]:
        yield f"{run['kind']}, {plural(run['threads'], 'thread')}", run["tasks"], run["threads"]
    yield "opening and reading one block, new processes", document["opening"], 1


def load_note(tasks: list[Document], threads: int) -> str:
    share = others(tasks)
    if share is None:
        return "load by others unknown; ratios by the clock"
    which = "processor time" if basis(tasks, threads) == "cpu" else "the clock"
    return f"others took {share:.0%} of the processors; ratios by {which}"


def print_tables(document: Document) -> None:
    out = console()
    machine = document["machine"]
    where = f"{machine['processor']}, {machine['system']}, Python {machine['python']}"
    out.print(styled((where, "dim")))
    columns = ("task", "reader", "median", "least", "CPU", "speed", "time", "CPU time", "memory")
    for heading, tasks, threads in sections(document):
        if not tasks:
            continue
        out.print()
        title = f"{heading} ({load_note(tasks, threads)})"
        out.print(styled((title, "bold cyan")), soft_wrap=True)
        made = table(*columns, right=columns[2:])
        for task in tasks:
            which = basis(tasks, threads)
            title = task["title"]
            for name, found in sorted(task["results"].items(), key=lambda item: item[1][which]):
                made.add_row(
                    title,
                    styled((name, "bold green" if name == BASE else "")),
                    duration(found["wall"]),
                    duration(found["wall_least"]),
                    duration(found["cpu"]),
                    speed(task, found[which]),
                    times(ratio(task, name, "wall")),
                    times(ratio(task, name, "cpu")),
                    megabytes(found.get("peak_rss")),
                )
                title = ""
            for name in task["wrong"]:
                made.add_row(title, styled((name, "bold red")), styled((WRONG, "bold red")))
                title = ""
        print_table(out, made)
    for run in document["runs"]:
        for name, reason in run["left_out"].items():
            note = f"{run['kind']}: {name}: {reason}"
            out.print(styled((note, "dim")), soft_wrap=True)


def markdown(document: Document) -> str:
    """Of vczc what it does; of the others how many times as long they take."""
    peers = [name for name in order(document) if name != BASE]
    lines: list[str] = []
    for heading, tasks, threads in sections(document):
        if not tasks:
            continue
        shown = [p for p in peers if any(p in t["results"] or p in t["wrong"] for t in tasks)]
        which = basis(tasks, threads)
        lines += [f"**{heading}** ({load_note(tasks, threads)})", ""]
        lines += [f"| task | {BASE} | {' | '.join(shown)} | others' load |"]
        lines += ["| --- |" + " ---: |" * (2 + len(shown))]
        for task in tasks:
            cells = [cell(task, name, which) for name in shown]
            own = task["results"].get(BASE)
            mine = speed(task, own[which]) if own else "WRONG" if BASE in task["wrong"] else ""
            cells.append("" if task["others"] is None else f"{task['others']:.0%}")
            lines.append(f"| {task['title']} | {mine} | {' | '.join(cells)} |")
        for task in tasks:
            if "base_rss" in task:
                found = [task["results"].get(n, {}).get("peak_rss") for n in (BASE, *shown)]
                cells = [megabytes(nbytes) for nbytes in found]
                lines.append(f"| {task['title']}: peak memory | {' | '.join(cells)} | |")
        if imports := [task for task in tasks if "base_rss" in task][:1]:
            found = [imports[0]["results"].get(n, {}).get("import") for n in (BASE, *shown)]
            cells = ["" if seconds is None else duration(seconds) for seconds in found]
            lines.append(f"| import, after NumPy | {' | '.join(cells)} | |")
        lines.append("")
    return "\n".join(lines)


def cell(task: Document, name: str, which: str) -> str:
    if name in task["wrong"]:
        return "WRONG"
    found = ratio(task, name, which)
    return "–" if found is None else times(found)
