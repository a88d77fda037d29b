"""What the library answers beside runs: reports, figures, tables of many runs."""
from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core


_MOST_ROWS_SHOWN = 20


def _cell(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, (float, np.floating)) else str(value)


class Figure:
    """A figure as data: drawn as SVG by the library itself, or by matplotlib where that is there.

    >>> import judder
    >>> figure = judder.load(judder.gallery_folder() / "belt" / "model.toml").law_figure()
    >>> figure.svg().startswith("<svg")
    True
    """

    def __init__(self, core: _core.Figure) -> None:
        self._core = core

    @property
    def name(self) -> str:
        return self._core.name

    def svg(self) -> str:
        """The text of an SVG file."""
        return self._core.svg()

    def data(self) -> dict[str, Any]:
        """Panels, series and marks as numbers and texts."""
        return self._core.data()

    def plot(self) -> Any:
        """The same as a figure of matplotlib."""
        from ._plot import draw

        return draw(self)

    def _repr_svg_(self) -> str:
        return inline_svg(self.svg())

    def __repr__(self) -> str:
        return f"<judder.Figure {self.name!r}>"


def inline_svg(text: str) -> str:
    """Without the head of a file, to stand inside a page."""
    return text[text.index("<svg"):]


def shown(text: str) -> str:
    """Text of a model or of the library as HTML."""
    return html.escape(text, quote=True)


class Report(Mapping[str, Any]):
    """What a verb of the program prints: a mapping (its JSON), a text, figures.

    ``print(report)`` shows the table; in a notebook the first figure stands above it.
    """

    def __init__(self, told: _core.Told) -> None:
        self._data: dict[str, Any] = json.loads(told.json)
        self.text: str = told.text
        self.figures: list[Figure] = [Figure(each) for each in told.figures]

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def plot(self) -> Any:
        """The first figure by matplotlib."""
        if not self.figures:
            raise ValueError("there is no figure in this report")
        return self.figures[0].plot()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<judder.{type(self).__name__}: {', '.join(self._data)}>"

    def _repr_html_(self) -> str:
        figures = "".join(inline_svg(figure.svg()) for figure in self.figures[:1])
        return f"<div>{figures}<pre>{shown(self.text)}</pre></div>"


class Sweep(Mapping[str, "npt.NDArray[Any]"]):
    """The table of many runs: an array for each value that was given and each that was collected, all of the shape of the grid.

    ``status`` and ``message`` say how each run has ended, ``axes`` holds the values along each direction of the grid.
    """

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]], axes: Mapping[str, npt.NDArray[np.float64]], told: Mapping[str, Any]) -> None:
        self._arrays = dict(arrays)
        self.axes = dict(axes)
        self.members: int = told["members"]
        self.failed: int = told["failed"]
        self.first_failure: str = told.get("first_failure", "")
        self.seconds: float = told["seconds"]

    @property
    def ok(self) -> bool:
        """Every run has ended well."""
        return self.failed == 0

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        try:
            return self._arrays[name]
        except KeyError:
            raise KeyError(f"nothing is called {name!r} here; there are: {', '.join(self._arrays)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        how = f"{self.failed} did not end well" if self.failed else "all ended well"
        return f"<judder.Sweep of {self.members} runs, {how}: {', '.join(self._arrays)}>"

    def __str__(self) -> str:
        """The table by runs, the first of them."""
        names = [name for name in self._arrays if name not in ("judder_member", "message")]
        columns = [self._arrays[name].ravel() for name in names]
        count = max((len(column) for column in columns), default=0)
        rows = [names]
        rows += [[_cell(column[i]) if i < len(column) else "" for column in columns] for i in range(min(count, _MOST_ROWS_SHOWN))]
        widths = [max(len(row[i]) for row in rows) for i in range(len(names))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
        if count > _MOST_ROWS_SHOWN:
            lines.append(f"… {count - _MOST_ROWS_SHOWN} more runs")
        if self.failed:
            lines.append(f"{self.failed} of {self.members} did not end well; the first: {self.first_failure}")
        return "\n".join(lines) + "\n"

    def _repr_html_(self) -> str:
        return f"<pre>{shown(str(self))}</pre>"
