"""What came of a run."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._results import Figure, inline_svg, shown

if TYPE_CHECKING:
    from ._model import Model

_MOST_EVENTS_SHOWN = 50


class RunWarning(UserWarning):
    """A run that did not reach its end, or in which the referee found a broken law."""


def event_table(columns: dict[str, Any], names: Sequence[str]) -> npt.NDArray[Any]:
    """The structured array of events; `names` are those of the state."""
    kinds = {name: np.array(columns[name], dtype=str) for name in ("kind", "where", "detail")}
    slips = columns["tangential_impulse"].shape[1]
    fields: list[Any] = [("time", "f8")]
    fields += [(name, f"U{max(text.itemsize // 4, 1)}") for name, text in kinds.items()]
    fields += [("normal_impulse", "f8"), ("tangential_impulse", "f8", (slips,) if slips > 1 else ()), ("energy_lost", "f8")]
    taken = {field[0] for field in fields}
    states = [f"state.{name}" if name in taken else name for name in names]
    fields += [(name, "f8") for name in states]
    table = np.zeros(len(columns["time"]), dtype=fields)
    for name in ("time", "normal_impulse", "energy_lost"):
        table[name] = columns[name]
    for name, text in kinds.items():
        table[name] = text
    tangential = columns["tangential_impulse"]
    table["tangential_impulse"] = tangential if slips > 1 else tangential[:, 0]
    for i, name in enumerate(states):
        if columns["state"].shape[1] > i:
            table[name] = columns["state"][:, i]
    table.flags.writeable = False
    return table


class Run:
    """Rows, events and verdict of one run.

    ``run["x'"]`` is a column, as a view of the memory of the run: nothing is copied, nothing can be written, and the run lives as long as any view of it.

    >>> import judder
    >>> run = judder.load(judder.gallery_folder() / "bouncing-ball" / "model.toml").run(until=1)
    >>> bool(run["h"].min() > -1e-9)
    True
    >>> run.events.dtype.names[:3]
    ('time', 'kind', 'where')
    """

    __slots__ = ("_array", "_core", "_events", "_model", "__weakref__")

    def __init__(self, core: _core.Run, model: Model) -> None:
        self._core = core
        self._model = model
        self._array: npt.NDArray[np.float64] | None = None
        self._events: npt.NDArray[Any] | None = None

    @property
    def ok(self) -> bool:
        """It ended as asked, and the referee found nothing."""
        return self._core.ok

    @property
    def status(self) -> _core.Status:
        """How it ended: ``reason``, ``time``, ``where``, ``message``."""
        return self._core.status

    @property
    def stopped(self) -> bool:
        """An observer ended it."""
        return self._core.stopped

    @property
    def undecided_ties(self) -> int:
        """Instants at which several motions satisfied the laws and no derivative that is known told them apart: what follows may be another motion."""
        return self._core.undecided_ties

    @property
    def engine(self) -> str:
        """The engine that was used."""
        return self._core.engine

    @property
    def compiled(self) -> bool:
        """Its values needed a compilation of their own (docs/cpp.md, parameters of a run)."""
        return self._core.compiled

    @property
    def columns(self) -> list[str]:
        return self._model.columns

    @property
    def rows(self) -> npt.NDArray[np.float64]:
        """All rows as a matrix, in the order of ``columns``."""
        if self._array is None:
            self._array = self._core.rows
        return self._array

    def __getitem__(self, name: str) -> npt.NDArray[np.float64]:
        return self.rows[:, self._model.place(name)]

    def words(self, name: str) -> npt.NDArray[np.str_]:
        """A column of modes (`mode(NAME)` in the model) in words."""
        numbers = self[name]
        if name not in self._model.words:
            raise ValueError(f"{name!r} is no column of modes; there are: {', '.join(self._model.words) or 'none'}")
        words: npt.NDArray[np.str_] = np.array(_core.mode_words)[numbers.astype(int)]
        return words

    @property
    def t(self) -> npt.NDArray[np.float64]:
        """The times of the rows; at an event there are two, the limits before and after it."""
        return self.rows[:, 0]

    def last(self, name: str) -> float:
        """The value of a column in the last row."""
        return float(self.rows[-1, self._model.place(name)])

    @property
    def events(self) -> npt.NDArray[Any]:
        """``time``, ``kind``, ``where``, ``detail``, ``normal_impulse``, ``tangential_impulse``, ``energy_lost``, and the state behind each event by its names.

        ``energy_lost`` is that of the whole collision, told at each of its contacts.
        """
        if self._events is None:
            self._events = event_table(self._core.events, self._model.states)
        return self._events

    def times(self, kind: str, where: str | None = None) -> npt.NDArray[np.float64]:
        """Times of the events of a kind, at one place or at any. KeyError: there is no such kind, or the model has no such place."""
        events = self.events
        if kind not in _core.event_kinds:
            raise KeyError(f"there is no event {kind!r}; there are: {', '.join(_core.event_kinds)}")
        if where is not None and where not in self._model._core.places and where not in events["where"]:
            raise KeyError(f"the model has no place {where!r}; there are: {', '.join(self._model._core.places)}")
        chosen = events["kind"] == kind
        if where is not None:
            chosen = chosen & (events["where"] == where)
        times: npt.NDArray[np.float64] = events["time"][chosen]
        return times

    @property
    def referee(self) -> dict[str, Any]:
        """What the referee checked and found: ``judged``, ``laws``, ``findings`` (docs/referee.md)."""
        return self._core.verdict

    @property
    def summary(self) -> dict[str, Any]:
        """How it ended, how many events of each kind there were, the extremes of every column among its rows, and the findings."""
        status = self.status
        kinds, counts = np.unique(self.events["kind"], return_counts=True)
        extremes = {}
        if len(self.rows):
            least, most = self.rows.min(axis=0), self.rows.max(axis=0)
            extremes = {name: (float(least[i]), float(most[i])) for i, name in enumerate(self.columns) if i > 0}
        return {
            "title": self._model.title,
            "engine": self.engine,
            "ok": self.ok,
            "reason": status.reason,
            "time": status.time,
            "where": status.where,
            "message": status.message,
            "undecided_ties": self.undecided_ties,
            "rows": len(self.rows),
            "events": {str(kind): int(count) for kind, count in zip(kinds, counts)},
            "extremes": extremes,
            "findings": self.referee["findings"],
        }

    def check(self) -> Run:
        """The run itself if it is ok; otherwise raises RunError with the reason."""
        if not self.ok:
            raise _core.RunError(self._words())
        return self

    def _words(self) -> str:
        status = self.status
        place = f" ({status.where})" if status.where else ""
        return f"{status.reason} at t = {status.time:.9g}{place}: {status.message}" if status.message else f"{status.reason} at t = {status.time:.9g}{place}"

    def figures(self, *plots: Sequence[str], events: bool = True, width: float | None = None) -> list[Figure]:
        """Figures of columns, the abscissa first: ``run.figures(("t", "x"), ("x", "x'"))``; without names those that the model asks for."""
        for each in plots:
            if isinstance(each, str):
                raise TypeError(f"a plot is a pair of columns, (\"t\", {each!r}), not {each!r}")
            for name in each:
                self._model.place(name)
        figures, problems = _core.run_figures(self._model._core, self._core, [list(each) for each in plots], events, width)
        if problems:
            raise _core.UsageError("; ".join(problems))
        return [Figure(each) for each in figures]

    def plot(self, *plots: Sequence[str], events: bool = True) -> Any:
        """The figures by matplotlib: one, or a list of them."""
        drawn = [each.plot() for each in self.figures(*plots, events=events)]
        return drawn[0] if len(drawn) == 1 else drawn

    def __repr__(self) -> str:
        return f"<judder.Run of {self._model.title or 'a model'!r}, engine {self.engine}: {self._words()}; {len(self.rows)} rows, {self._core.event_count} events>"

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{shown(self._model.title)}</b>, engine {shown(self.engine)}: {shown(self._words())}</p>"]
        for finding in self.referee["findings"]:
            parts.append(f"<p><b>referee</b>: {shown(finding['law'])}, {shown(finding['place'])}, at t = {finding['time']:.9g}</p>")
        try:
            parts += [inline_svg(figure.svg()) for figure in self.figures()[:1]]
        except _core.UsageError as problem:
            parts.append(f"<p>{shown(str(problem))}</p>")
        events = self.events
        if len(events):
            parts.append("<table><thead><tr><th>time</th><th>event</th><th>where</th><th>detail</th><th>normal impulse</th></tr></thead><tbody>")
            for event in events[:_MOST_EVENTS_SHOWN]:
                impulse = f"{event['normal_impulse']:.6g}" if event["normal_impulse"] else ""
                parts.append(
                    f"<tr><td>{event['time']:.9g}</td><td>{shown(str(event['kind']))}</td><td>{shown(str(event['where']))}</td>"
                    f"<td>{shown(str(event['detail']))}</td><td>{impulse}</td></tr>"
                )
            parts.append("</tbody></table>")
            if len(events) > _MOST_EVENTS_SHOWN:
                parts.append(f"<p>and {len(events) - _MOST_EVENTS_SHOWN} more events</p>")
        return "<div>" + "".join(parts) + "</div>"
