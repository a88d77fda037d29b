"""Figures of the library drawn by matplotlib, where that is installed."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._results import Figure

# Colours of Okabe and Ito, in the order of the library's own drawings.
_PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STROKES: dict[str, Any] = {
    "solid": "-",
    "dashed": "--",
    "dotted": ":",
    "dash-dotted": "-.",
    "long-dashed": (0, (8, 3)),
    "dash-dot-dotted": (0, (6, 2, 1, 2, 1, 2)),
    "none": "",
}
_SYMBOLS = {
    "none": "", "circle": "o", "disc": "o", "square": "s", "diamond": "D", "triangle-up": "^", "triangle-down": "v", "cross": "x", "plus": "+", "bar": "|",
}
_PIXELS = 96.0


def _colour(number: int | None) -> str:
    return _PALETTE[-1] if number is None else _PALETTE[number % len(_PALETTE)]


def _curve(axes: Any, series: dict[str, Any], colour: str) -> None:
    x, y = series["x"], series["y"]
    if series["filled"]:
        axes.fill(x, y, color=colour, alpha=0.15, label=series["label"] or None)
        return
    style = {
        "color": colour,
        "linewidth": series["width"],
        "linestyle": _STROKES[series["stroke"]],
        "marker": _SYMBOLS[series["symbol"]],
        "markersize": series["radius"],
        "markerfacecolor": colour if series["symbol"] == "disc" else "none",
    }
    jumps = np.asarray(series["jumps"], dtype=int)
    # The two limits at a jump are kept apart: a gap in the curve, and a thin link across it.
    axes.plot(np.insert(x, jumps, np.nan), np.insert(y, jumps, np.nan), label=series["label"] or None, **style)
    for jump in jumps:
        axes.plot(x[jump - 1 : jump + 1], y[jump - 1 : jump + 1], color=colour, linewidth=0.6, linestyle=":")


def _axis(axes: Any, which: str, axis: dict[str, Any]) -> None:
    getattr(axes, f"set_{which}label")(axis["label"])
    if axis["logarithmic"]:
        getattr(axes, f"set_{which}scale")("log")
    if axis["from"] is not None or axis["to"] is not None:
        getattr(axes, f"set_{which}lim")(axis["from"], axis["to"])
    if axis["tight"]:
        axes.margins(**{which: 0})
    if axis["categories"]:
        getattr(axes, f"set_{which}ticks")(range(len(axis["categories"])), axis["categories"])


def _marks(axes: Any, panel: dict[str, Any]) -> None:
    """Events on the curves, and above the panel a lane for each kind; in a lane a row for each run, in its colour."""
    pixel = 1.0 / panel["height"]
    row_height = 7 * pixel
    lane_height = (12 + 7 * (max(panel["mark_rows"], 1) - 1)) * pixel
    several = panel["mark_rows"] > 1
    above = axes.get_xaxis_transform()
    lanes = [kind for kind in range(len(panel["mark_kinds"])) if any(mark[0] == kind and np.isnan(mark[2]) for mark in panel["marks"])]
    for kind, (label, symbol) in enumerate(panel["mark_kinds"]):
        groups: dict[tuple[bool, int | None, int], list[Any]] = {}
        for mark in panel["marks"]:
            if mark[0] == kind:
                groups.setdefault((bool(np.isnan(mark[2])), mark[4], mark[5]), []).append(mark)
        named = False
        for (in_lane, number, row), marks in sorted(groups.items(), key=lambda group: (not group[0][0], group[0][2])):
            colour = "black" if number is None else _colour(number)
            style: dict[str, Any] = {"linestyle": "", "marker": _SYMBOLS[symbol] or "o", "color": colour, "clip_on": False}
            style["markerfacecolor"] = colour if symbol == "disc" else "white"
            style["markersize"] = 3.5 if several else 5
            style["label"] = None if named or in_lane else label
            named = named or not in_lane
            xs = [mark[1] for mark in marks]
            if in_lane:
                # Lanes from the top down, in the order of the kinds.
                height = 1 + 8 * pixel + (len(lanes) - 1 - lanes.index(kind)) * lane_height + (max(panel["mark_rows"], 1) - 1 - row) * row_height
                axes.plot(xs, [height] * len(xs), transform=above, **style)
            else:
                axes.plot(xs, [mark[2] for mark in marks], **style)
        if kind in lanes:
            middle = 1 + 8 * pixel + (len(lanes) - 1 - lanes.index(kind)) * lane_height + 0.5 * (max(panel["mark_rows"], 1) - 1) * row_height
            axes.annotate(label, (0, middle), xycoords="axes fraction", xytext=(-4, 0), textcoords="offset points", ha="right", va="center", fontsize="x-small", color="0.35")


def _panel(axes: Any, panel: dict[str, Any]) -> None:
    raster = panel["raster"]
    if raster is not None:
        from matplotlib.colors import ListedColormap  # type: ignore[import]

        cells = np.where(raster["cells"] == 0, np.nan, raster["cells"])
        count = max(int(raster["cells"].max()), 1)
        colours = ListedColormap([_colour(i) for i in range(count)])
        axes.imshow(cells, extent=raster["extent"], aspect="auto", cmap=colours, vmin=1, vmax=count, interpolation="nearest")
    taken = 0
    for series in panel["series"]:
        number = series["colour"]
        if number is None:
            number, taken = taken, taken + 1
        _curve(axes, series, _colour(number))
    _marks(axes, panel)
    for x in panel["guides"]:
        axes.axvline(x, color="0.8", linewidth=0.6, zorder=0)
    _axis(axes, "x", panel["x"])
    _axis(axes, "y", panel["y"])
    if panel["same_scale"]:
        axes.set_aspect("equal", adjustable="datalim")
    axes.grid(True, color="0.92")
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="small", loc="best")


def draw(figure: Figure) -> Any:
    """A figure of matplotlib with the panels of `figure`."""
    try:
        from matplotlib import pyplot  # type: ignore[import]
    except ImportError:
        raise ImportError("matplotlib is not installed (Debian: python3-matplotlib); Figure.svg() draws without it") from None
    data = figure.data()
    panels = data["panels"]
    heights = [panel["height"] for panel in panels] or [200]
    size = (data["width"] / _PIXELS, (sum(heights) + 70 * len(heights) + 40) / _PIXELS)
    out, rows = pyplot.subplots(len(heights), 1, figsize=size, squeeze=False, sharex=data["shared_x"], gridspec_kw={"height_ratios": heights}, layout="constrained")
    for axes, panel in zip(rows[:, 0], panels):
        _panel(axes, panel)
    if data["title"]:
        out.suptitle(data["title"] + (f"\n{data['subtitle']}" if data["subtitle"] else ""), fontsize="medium")
    return out
