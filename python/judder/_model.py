"""Models: where they come from, and what can be asked of them."""
from __future__ import annotations

import os
import pathlib
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._function import Callables, functions_of
from ._results import Figure, Report, Sweep, inline_svg, shown
from ._run import Run, RunWarning, event_table
from ._toml import model_text

Settings = Mapping[str, float]
Values = Union[float, Sequence[float], "npt.NDArray[Any]"]
RowObserver = Callable[["npt.NDArray[np.float64]"], Any]
EventObserver = Callable[[_core.Event], Any]


class ModelWarning(UserWarning):
    """What is strange about a model that can be run all the same."""


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name!r} must be a number, not {value!r}") from None


def _numbers(**given: Any) -> None:
    """Refuses what is no number; None: not given."""
    for name, value in given.items():
        if value is not None:
            _number(name, value)


def _pairs(settings: Settings | None) -> list[tuple[str, float]]:
    return [(name, _number(name, value)) for name, value in settings.items()] if settings else []


def _told(core: _core.Model) -> _core.Model:
    if core.problems:
        warnings.warn(core.problems, ModelWarning, stacklevel=4)
    return core


class Model:
    """A compiled model. It never changes, and any number of threads may run it at once.

    The tables of a model file (docs/model-file.md) are the arguments: a table is a mapping, elements such as ``contact`` or ``force`` are lists of mappings. A
    key of one of them that Python cannot write goes through a mapping: ``Model({"title": "…", …})``.

    >>> import judder
    >>> model = judder.Model(coordinates={"x": {"velocity": 1}}, energy={"kinetic": "x'^2/2"}, run={"until": 2})
    >>> model.run().last("x")
    2.0

    What is wrong is said with its line, a caret and what to do:

    >>> judder.Model(coordinates={"x": 0}, energy={"kinetic": "m*x'^2/2"}, run={"until": 2})
    Traceback (most recent call last):
    ...
    judder.ModelError: model:7:12: error: unknown name 'm'
      kinetic = "m*x'^2/2"
                 ^
      help: numbers stand without units: 2, not 2 N or 2*N; a factor is written with *: 2*x, not 2 x
    <BLANKLINE>
    """

    __slots__ = ("_columns", "_core", "_names", "_places", "_starts", "_words", "__weakref__")

    def __init__(
        self,
        tables: Mapping[str, Any] | None = None,
        /,
        *,
        variants: Mapping[str, Any] | None = None,
        choose: Sequence[str] = (),
        set: Settings | None = None,
        open: Iterable[str] = (),
        functions: Callables | None = None,
        **more: Any,
    ) -> None:
        every: dict[str, Any] = {**(tables or {}), **more}
        if variants is not None:
            every["variants"] = variants
        self._take(_told(_core.Model.from_text(model_text(every), list(choose), _pairs(set), list(open), functions_of(functions))))

    @classmethod
    def _of(cls, core: _core.Model) -> Model:
        model = cls.__new__(cls)
        model._take(_told(core))
        return model

    def _take(self, core: _core.Model) -> None:
        self._core = core
        self._columns = core.columns
        self._places = {name: i for i, name in enumerate(self._columns)}
        self._starts = frozenset(self._columns[1 : 1 + core.states])
        self._names = frozenset(name for name, _ in core.parameters)
        self._words = core.words

    @classmethod
    def from_text(
        cls, text: str, *, variants: Sequence[str] = (), set: Settings | None = None, open: Iterable[str] = (), functions: Callables | None = None
    ) -> Model:
        """The text of a model file. Data files that it names are not read. `functions` are what its formulas may call beside the language (judder.function)."""
        return cls._of(_core.Model.from_text(text, list(variants), _pairs(set), list(open), functions_of(functions)))

    # --- what it is -----------------------------------------------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        return self._core.title

    @property
    def text(self) -> str:
        """The model file."""
        return self._core.text

    @property
    def problems(self) -> str:
        """The warnings of ``judder check``; empty: there are none."""
        return self._core.problems

    @property
    def columns(self) -> list[str]:
        """Names of the columns of a run, ``"t"`` first."""
        return self._columns

    @property
    def states(self) -> list[str]:
        """Coordinates, velocities and states: what a start value can be given for."""
        return self._columns[1 : 1 + len(self._starts)]

    @property
    def words(self) -> list[str]:
        """Columns that hold modes: see Run.words."""
        return self._words

    @property
    def parameters(self) -> dict[str, float]:
        return dict(self._core.parameters)

    @property
    def variants(self) -> list[str]:
        """The variants that the model file has."""
        return self._core.variants

    def place(self, column: str) -> int:
        """The number of a column."""
        try:
            return self._places[column]
        except KeyError:
            raise KeyError(f"there is no column {column!r}; there are: {', '.join(self._columns)}") from None

    def explain(self) -> str:
        """The equations that were derived, as ``judder explain`` prints them."""
        return self._core.explain()

    def latex(self, symbolic: bool = False) -> str:
        """The same as formulas for a paper, with numbers or with the names of parameters."""
        return self._core.latex(symbolic)

    def with_(self, values: Settings | None = None, /, **named: float) -> Model:
        """The same model with other parameters or start values, compiled anew."""
        return Model._of(self._core.with_(_pairs({**(values or {}), **named})))

    # --- runs -----------------------------------------------------------------------------------------------------------------------------------------

    def _asked(
        self,
        values: Settings | None,
        named: Mapping[str, Any],
        options: Iterable[str],
        from_: float | None,
        until: float | None,
        tolerance: float | None,
        step: float | None,
        samples: int | None,
        every: float | None,
        event_rows: bool | None,
        engine: str,
        referee: bool,
        keep_rows: bool,
    ) -> _core.Asked:
        parameters: list[tuple[str, float]] = []
        start: list[tuple[str, float]] = []
        for given in (values, named):
            if not given:
                continue
            for name, value in given.items():
                if name in self._starts:
                    start.append((name, _number(name, value)))
                elif name in self._names:
                    parameters.append((name, _number(name, value)))
                else:
                    raise TypeError(self._unknown(name))
        if values and named:
            twice = sorted(values.keys() & named.keys())
            if twice:
                raise TypeError(f"{twice[0]!r} is given twice")
        self._refuse_mistaken(options)
        _numbers(from_=from_, until=until, tolerance=tolerance, step=step, samples=samples, every=every)
        if samples is not None and int(samples) != samples:
            raise TypeError(f"'samples' must be a whole number, not {samples!r}")
        return _core.Asked(parameters, start, from_, until, tolerance, step, samples, every, event_rows, engine, referee, keep_rows)

    def _refuse_mistaken(self, options: Iterable[str]) -> None:
        """A keyword that is an option as well as a value of the model could mean either."""
        for name in options:
            if name in self._names or name in self._starts:
                raise TypeError(
                    f"{name!r} is an option and a value of the model: give the value in a mapping, {{{name!r}: …}}; options of a run can also stand in [run]"
                )

    def _unknown(self, name: str) -> str:
        known = ", ".join([*sorted(self._names), *self.states])
        return f"{name!r} is neither an option nor a parameter or start value; the model has: {known}"

    def run(
        self,
        values: Settings | None = None,
        /,
        *,
        from_: float | None = None,
        until: float | None = None,
        tolerance: float | None = None,
        step: float | None = None,
        samples: int | None = None,
        every: float | None = None,
        event_rows: bool | None = None,
        engine: str = "",
        referee: bool = True,
        keep_rows: bool = True,
        on_row: RowObserver | None = None,
        on_event: EventObserver | None = None,
        cancel: _core.Cancel | None = None,
        **named: float,
    ) -> Run:
        """One run; what is not given is as in the model file.

        `values` are parameters and start values for this run alone, ``{"om": 1.2, "x'": 0}``; names that Python can write may be keywords too, unless an
        option has the same name. Parameters that were named `open` when the model was made cost no compilation.

        `on_row` is given each row as an array, `on_event` each event; the run ends there if they return False, and with their exception if they raise one.
        `cancel` is a judder.Cancel that another thread may set to end the run.

        A run that did not end well is returned and warned about (RunWarning); ``run.check()`` raises instead. RunError is raised where no run could begin.
        """
        options = _given(
            {"engine": "", "referee": True, "keep_rows": True}, until=until, tolerance=tolerance, step=step, samples=samples, every=every, event_rows=event_rows,
            engine=engine, on_row=on_row, on_event=on_event, referee=referee, keep_rows=keep_rows, cancel=cancel,
        )
        asked = self._asked(values, named, options, from_, until, tolerance, step, samples, every, event_rows, engine, referee, keep_rows)
        core = self._core.run(asked, on_row, on_event, cancel)
        run = Run(core, self)
        if not core.ok and not core.stopped and not (cancel is not None and core.status.reason == "interrupted"):
            if core.status.reason == "unsupported" and len(run.rows) == 0:
                raise _core.RunError(core.status.message)
            warnings.warn(run._words(), RunWarning, stacklevel=2)
        return run

    def stepper(
        self,
        values: Settings | None = None,
        /,
        *,
        from_: float | None = None,
        until: float | None = None,
        tolerance: float | None = None,
        step: float | None = None,
        engine: str = "",
        referee: bool = True,
        **named: float,
    ) -> Stepper:
        """A run that the caller moves on."""
        options = _given({"engine": "", "referee": True}, until=until, tolerance=tolerance, step=step, engine=engine, referee=referee)
        asked = self._asked(values, named, options, from_, until, tolerance, step, None, None, None, engine, referee, True)
        return Stepper(_core.Stepper(self._core, asked), self)

    # --- questions ------------------------------------------------------------------------------------------------------------------------------------

    def impact(self, sweep: Mapping[str, tuple[float, float, int]] | None = None) -> Report:
        """The collision of the start state by every law; over one or two values with `sweep`, ``{"theta0": (0.1, 1.5, 15)}``."""
        return Report(_core.impacts(self._core, [(name, float(a), float(b), n) for name, (a, b, n) in (sweep or {}).items()]))

    def equilibria(self, *, at: float | None = None, limit: int = 10000, perturb: bool = False) -> Report:
        """Every state in which friction lets the model rest, with its stability."""
        return Report(_core.equilibria(self._core, at, limit, perturb))

    def compare(
        self, engines: Sequence[str] = (), *, tolerances: Sequence[float] = (), steps: Sequence[float] = (), until: float | None = None
    ) -> Report:
        """Several engines on this model: how far each is from the reference, and what it costs."""
        return Report(_core.compare(self._core, list(engines), [float(e) for e in tolerances], [float(h) for h in steps], until))

    def dither(
        self,
        law: str = "",
        *,
        speeds: tuple[float, float, int] | None = None,
        speed: float | None = None,
        map: Mapping[str, tuple[float, float, int]] | None = None,
        harmonics: int = 0,
        simulate: bool = False,
        filter: str = "mean",
        until: float | None = None,
    ) -> Report:
        """What fast vibration makes of a friction law (docs/dither.md)."""
        axes = [(name, float(a), float(b), n) for name, (a, b, n) in (map or {}).items()]
        along = None if speeds is None else ("speed", float(speeds[0]), float(speeds[1]), speeds[2])
        return Report(_core.dither(self._core, law, along, speed, axes, harmonics, simulate, filter, until))

    def sweep(
        self,
        values: Mapping[str, Values] | None = None,
        /,
        *,
        collect: str | Sequence[str],
        variants: Sequence[str] = (),
        random: int = 0,
        seed: int = 1,
        rows: bool = False,
        after: float | None = None,
        until: float | None = None,
        tolerance: float | None = None,
        engine: str = "",
        referee: bool = True,
        threads: int = 0,
        output: str | os.PathLike[str] | None = None,
        folders: str | os.PathLike[str] | None = None,
        resume: bool = False,
        **named: Values,
    ) -> Sweep:
        """Many runs on all cores: each value of each name with each of the others (docs/sweeps.md).

        `collect` says what is kept of each run: ``"max(x), count(impact wall)"``. `rows` takes the values together, the first of each name for the first
        run; `random` draws so many from the ranges ``(from, to)``. `output` keeps the table, ``.npz``, `folders` a run folder for each run.

        >>> import judder
        >>> ball = judder.load(judder.gallery_folder() / "bouncing-ball" / "model.toml")
        >>> table = ball.sweep(e=[0.5, 0.7], collect="count(impact)", until=1.2)
        >>> bool(table["count(impact)"][0] >= table["count(impact)"][1])
        True
        """
        self._refuse_mistaken(
            _given(
                {"random": 0, "seed": 1, "rows": False, "engine": "", "threads": 0, "resume": False, "variants": (), "referee": True}, random=random, seed=seed,
                rows=rows, after=after, until=until, tolerance=tolerance, engine=engine, threads=threads, output=output, folders=folders, resume=resume,
                variants=variants, referee=referee,
            )
        )
        axes = self._axes(values, named)
        numbers: list[float] = []
        plan = "random" if random else "rows" if rows else "grid"
        if plan == "rows":
            lengths = {len(each) for _, each in axes}
            if len(lengths) != 1:
                raise _core.UsageError("values that are taken together must be equally many")
            numbers = [float(x) for x in np.column_stack([each for _, each in axes]).ravel()]
        chosen = self.variants if list(variants) == ["all"] else list(variants)
        if not axes and not chosen:
            raise _core.UsageError("there is nothing to go over: give values, sweep(om=[…], …), or variants")
        words = collect if isinstance(collect, str) else ", ".join(collect)
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(output) if output is not None else pathlib.Path(folder) / "sweep.npz"
            if table.suffix != ".npz":
                raise _core.UsageError(f"the table of a sweep is kept as .npz, not {table.name!r}")
            told = _core.sweep(
                self._core, plan, axes, numbers, random, seed, chosen, words, after, str(table), "" if folders is None else os.fspath(folders),
                engine, until, tolerance, referee, threads, resume,
            )
            summary = Report(told)
            with np.load(table) as arrays:
                found = {name: arrays[name] for name in arrays.files}
        return Sweep(found, {} if plan != "grid" else {name: np.array(each) for name, each in axes}, summary)

    def basin(
        self,
        values: Mapping[str, Values] | None = None,
        /,
        *,
        random: int = 0,
        seed: int = 1,
        refine: bool = False,
        bound: float = 0,
        until: float | None = None,
        tolerance: float | None = None,
        engine: str = "",
        referee: bool = True,
        threads: int = 0,
        **named: Values,
    ) -> Basin:
        """Attractors, and from which starts they are reached. ``report.labels`` has the number of the attractor of each start, in the shape of the grid."""
        self._refuse_mistaken(
            _given(
                {"random": 0, "seed": 1, "refine": False, "bound": 0, "engine": "", "threads": 0, "referee": True}, random=random, seed=seed, refine=refine,
                bound=bound, until=until, tolerance=tolerance, engine=engine, threads=threads, referee=referee,
            )
        )
        axes = self._axes(values, named)
        if not axes:
            raise _core.UsageError("there are no starts to go over: give values, basin({'x': […], \"x'\": […]})")
        with tempfile.TemporaryDirectory() as folder:
            found = _core.basin(
                self._core, axes, random, seed, refine, bound, str(pathlib.Path(folder) / "basin.npz"), engine, until, tolerance, referee, threads, False
            )
        return Basin(found)

    def bifurcation(
        self,
        name: str,
        values: Sequence[float] | npt.NDArray[Any],
        *,
        section: str = "strobe",
        skip: int = 200,
        keep: int = 100,
        carry: str = "",
        until: float | None = None,
        tolerance: float | None = None,
        engine: str = "",
        referee: bool = True,
        threads: int = 0,
    ) -> Bifurcation:
        """Section points of the motion over a parameter (docs/sweeps.md): ``found.points["value"]``, ``found.points["x"]``."""
        ((_, numbers),) = self._axes({name: values}, {})
        if len(numbers) < 2:
            raise _core.UsageError("a diagram needs two values or more")
        with tempfile.TemporaryDirectory() as folder:
            table = str(pathlib.Path(folder) / "diagram.csv")
            return Bifurcation(_core.bifurcation(self._core, name, numbers, section, skip, keep, carry, table, engine, until, tolerance, referee, threads))

    def record(
        self,
        folder: str | os.PathLike[str],
        *,
        until: float | None = None,
        tolerance: float | None = None,
        step: float | None = None,
        engine: str = "",
        estimate: bool = False,
        until_periodic: bool = False,
        referee: bool = True,
        page: bool = False,
        resume: bool = False,
    ) -> Recorded:
        """A run into a folder on disk, as by ``judder run`` (docs/run-folder.md), with the page of HTML if `page` is asked for."""
        told, place, status = _core.record(self._core, os.fspath(folder), engine, until, tolerance, step, estimate, until_periodic, referee, page, resume)
        recorded = Recorded(told, place, status)
        if not status.ok:
            warnings.warn(f"{status.reason} at t = {status.time:.9g}: {status.message}", RunWarning, stacklevel=2)
        return recorded

    def _axes(self, values: Mapping[str, Values] | None, named: Mapping[str, Values]) -> list[tuple[str, list[float]]]:
        """Values by name. Three numbers in a tuple are a range in `impact` and `dither` and could mean either here."""
        both = sorted((values or {}).keys() & named.keys())
        if both:
            raise TypeError(f"{both[0]!r} is given twice")
        axes = []
        for name, each in {**(values or {}), **named}.items():
            if name not in self._names and name not in self._starts:
                raise TypeError(self._unknown(name))
            if isinstance(each, tuple) and len(each) == 3:
                raise TypeError(
                    f"{name!r} could be three values or a range, {each!r}: write a list for values, [1, 2, 3], and np.linspace(from, to, count) for a range"
                )
            axes.append((name, [float(x) for x in np.atleast_1d(np.asarray(each, dtype=float)).ravel()]))
        return axes

    def law_figure(self, name: str = "", to: float = 0) -> Figure:
        """A friction law as a figure; `to` is the largest slip speed."""
        return Figure(_core.law_figure(self._core, name, to))

    def plot_law(self, name: str = "", to: float = 0) -> Any:
        """The same by matplotlib."""
        return self.law_figure(name, to).plot()

    def __repr__(self) -> str:
        return f"<judder.Model {self.title!r}: {', '.join(self.states)}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{shown(name)}</td><td>{value:.9g}</td></tr>" for name, value in self._core.parameters)
        return f"<div><p><b>{shown(self.title)}</b></p><table><tbody>{rows}</tbody></table><p>columns: {shown(', '.join(self._columns))}</p></div>"


class Basin(Report):
    """The report of a basin, with the labels of its starts."""

    def __init__(self, found: _core.Basin) -> None:
        super().__init__(found.told)
        self.labels: npt.NDArray[np.int_] = np.array(found.labels, dtype=int).reshape(found.shape or -1)


class Bifurcation:
    """A diagram; ``print(found)`` shows the windows of the parameter, ``figures`` has its picture. ``points`` has a row for each section point (the value of the parameter, whether it was carried downwards, t and the state), ``values`` one
    for each value (points per period, the period, its events, how the run ended)."""

    def __init__(self, found: _core.Diagram) -> None:
        self.forcing_period = found.forcing_period
        self.text: str = found.told.text
        self.figures: list[Figure] = [Figure(each) for each in found.told.figures]
        width = len(found.columns)
        fields: list[Any] = [("value", "f8"), ("down", "?"), *((name, "f8") for name in found.columns)]
        rows = [(each.value, each.down, *each.points[k : k + width]) for each in found.values for k in range(0, len(each.points), width)]
        self.points: npt.NDArray[Any] = np.array(rows, dtype=fields)
        ends = [(each.value, each.down, each.period_points, each.period, each.word, each.status) for each in found.values]
        word = max([1, *(len(each.word) for each in found.values)])
        status = max([1, *(len(each.status) for each in found.values)])
        kinds: list[Any] = [("value", "f8"), ("down", "?"), ("period_points", "i8"), ("period", "f8"), ("word", f"U{word}"), ("status", f"U{status}")]
        self.values: npt.NDArray[Any] = np.array(ends, dtype=kinds)

    def plot(self) -> Any:
        """The picture by matplotlib."""
        return self.figures[0].plot()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<judder.Bifurcation of {len(self.values)} values: {len(self.points)} section points>"

    def _repr_html_(self) -> str:
        figures = "".join(inline_svg(figure.svg()) for figure in self.figures)
        return f"<div>{figures}<pre>{shown(self.text)}</pre></div>"


class Recorded(Report):
    """What ``run.json`` says of a run on disk, with its ``folder``."""

    def __init__(self, told: _core.Told, folder: str, status: _core.Status) -> None:
        super().__init__(told)
        self.folder = pathlib.Path(folder)
        self.status = status

    @property
    def ok(self) -> bool:
        """It ended as asked, and the referee found nothing."""
        return self.status.ok


def _given(defaults: Mapping[str, Any], **options: Any) -> list[str]:
    """The options that are not as they are when left out."""
    return [name for name, value in options.items() if value is not None and not (isinstance(value, type(defaults.get(name))) and value == defaults[name])]


def load(
    file: str | os.PathLike[str],
    *,
    variants: Sequence[str] = (),
    set: Settings | None = None,
    open: Iterable[str] = (),
    functions: Callables | None = None,
) -> Model:
    """A model file. `variants` are chosen by name, later ones win; `set` wins over them; `open` names parameters that runs will set; `functions` are what
    formulas of the file may call beside the language (judder.function).

    >>> import judder
    >>> press = judder.load(judder.gallery_folder() / "press" / "model.toml", open=["mu"])
    >>> press.run({"mu": 0.3}, until=0.2).times("impact", "plane").round(6)
    array([0.090305])
    """
    return Model._of(_core.Model.load(os.fspath(file), list(variants), _pairs(set), list(open), functions_of(functions)))


class Stepper:
    """A run that the caller moves on: for controllers, games, co-simulation.

    >>> import judder
    >>> ball = judder.load(judder.gallery_folder() / "bouncing-ball" / "model.toml")
    >>> stepper = ball.stepper(until=1.0)
    >>> while stepper.advance_to(stepper.time + 0.25):
    ...     height = stepper["h"]
    >>> stepper.over
    True
    """

    def __init__(self, core: _core.Stepper, model: Model) -> None:
        self._core = core
        self._model = model

    def advance_to(self, time: float) -> bool:
        """Moves to `time`, or to the end of the run if that comes first. False: the run is over, or `time` is not later."""
        return self._core.advance_to(time)

    @property
    def time(self) -> float:
        return self._core.time

    @property
    def over(self) -> bool:
        return self._core.over

    @property
    def status(self) -> _core.Status:
        return self._core.status

    def __getitem__(self, column: str) -> float:
        return float(self._core.row[self._model.place(column)])

    @property
    def row(self) -> npt.NDArray[np.float64]:
        """All columns now."""
        return self._core.row

    @property
    def events(self) -> npt.NDArray[Any]:
        """What the last advance met, as in Run.events."""
        return event_table(self._core.events, self._model.states)

    @property
    def referee(self) -> dict[str, Any]:
        return self._core.verdict
