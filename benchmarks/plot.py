# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The results as a picture: for each task the readers' times over that of vczc."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from PIL import Image
from report import BASE, basis, order, ratio, speed, times

from vczc.cli.terminal import plural

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

COLUMNS = 3
BARS = 5  # in a panel: all bars are of one height
# Colours that people who do not see red or green can tell apart, too.
COLOURS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#999999", "#aa3377", "#ee6677")


def draw(document: dict[str, Any], out: Path) -> None:
    """plot.png and plot.svg: of the run with the fewest threads, and of opening.

    Reads into buffers and codecs but the first are left to the tables, for the sake of size.
    """
    run = min(document["runs"], key=lambda r: r["threads"])
    panels = [
        (task, basis(tasks, run["threads"]))
        for tasks in (run["tasks"], document["opening"])
        for task in tasks
        if BASE in task["results"]
        and len(task["results"]) > 1
        and not task["task"].endswith("/into")
    ]
    if not panels:
        return
    labels = labels_of(document, run)
    ratios = [ratio(task, n, which) or 1 for task, which in panels for n in task["results"]]
    limits = (min(0.8, 0.8 * min(ratios)), 3 * max(ratios))
    nrows = math.ceil(len(panels) / COLUMNS)
    figure = Figure(figsize=(10.5, 0.8 + 1.3 * nrows), layout="constrained")
    axes = figure.subplots(nrows, COLUMNS, squeeze=False).ravel()
    for ax, (task, which) in zip(axes, panels, strict=False):
        draw_task(ax, task, which, labels)
        ax.set_xlim(limits)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    figure.suptitle(heading(document, run, panels), fontsize=10, x=0.01, ha="left")
    with mpl.rc_context({"svg.hashsalt": "vczc", "svg.fonttype": "none"}):
        figure.savefig(out / "plot.svg", metadata={"Date": None})
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=110)
    Image.open(drawn).convert("RGB").quantize(48).save(out / "plot.png", optimize=True)


def labels_of(document: dict[str, Any], run: dict[str, Any]) -> dict[str, str]:
    """The readers that are drawn, and how they are called there."""
    kinds = run["readers"]
    codecs = [name for name, kind in kinds.items() if kind == "codec"]
    names = [n for n in order(document) if n != BASE and n not in codecs[1:]]
    return {n: "codec alone" if n in codecs else n for n in names}


def heading(document: dict[str, Any], run: dict[str, Any], panels: list[Any]) -> str:
    clocks = {which for _, which in panels}
    which = {("cpu",): "Processor time", ("wall",): "Time"}.get(tuple(clocks), "CPU or wall time")
    return (
        f"{which} of other readers over that of vczc: farther right is slower\n"
        f"{document['store']}; {run['kind']}; {plural(run['threads'], 'thread')}; "
        f"{document['machine']['processor']}"
    )


def draw_task(ax: Axes, task: dict[str, Any], which: str, labels: dict[str, str]) -> None:
    names = [n for n in labels if n in task["results"]][:BARS]
    places = range(len(names))
    for place, name in zip(places, names, strict=True):
        value = ratio(task, name, which) or 1
        colour = COLOURS[list(labels).index(name) % len(COLOURS)]
        ax.barh(place, value - 1, left=1, height=0.74, color=colour)
        ax.annotate(
            times(value),
            (max(value, 1), place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
        )
    ax.axvline(1, color="black", linewidth=1)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator([0.1, 1, 10, 100, 1000]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g} ×"))
    ax.set_yticks(places, [labels[n] for n in names], fontsize=7.5)
    ax.set_ylim(BARS - 0.4, -0.6)
    ax.tick_params(axis="x", labelsize=7)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    own = speed(task, task["results"][BASE][which])
    ax.set_title(f"{task['title']}: vczc {own}", fontsize=9, loc="left", x=-0.35)
