"""Functions of Python that the formulas of a model call."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _core

_MOST_ARGUMENTS = 8


class Function:
    """What ``judder.function`` makes: a function with its derivatives. Models take it in `functions`."""

    __slots__ = ("_core", "arguments", "order")

    def __init__(self, core: _core.Function, arguments: int, order: int) -> None:
        self._core = core
        self.arguments = arguments
        self.order = order

    def __repr__(self) -> str:
        return f"<judder.Function of {self.arguments} arguments with derivatives up to order {self.order}>"


Callables = Mapping[str, Union[Callable[..., Any], Function]]


def _count(f: Callable[..., Any]) -> int:
    """How many arguments it needs."""
    if isinstance(f, np.ufunc):
        return int(f.nin)
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    needed = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) and each.default is each.empty]
    if not needed:
        raise TypeError(f"how many arguments {f!r} takes cannot be seen: say it, judder.function(f, arguments=2)")
    return len(needed)


def _callable(f: Any, what: str) -> Callable[..., Any]:
    if not callable(f):
        raise TypeError(f"{what} must be a function, not {f!r}")
    return f  # type: ignore[no-any-return]


def function(
    f: Callable[..., Any],
    derivatives: int | Sequence[Callable[..., Any]] = 0,
    *,
    second: Sequence[Sequence[Callable[..., Any]]] | None = None,
    arguments: int | None = None,
    sizes: Sequence[float] | None = None,
) -> Function:
    """A function that formulas of a model may call, with its derivatives: ``functions={"ground": judder.function(f, [fx, ft])}``.

    `derivatives` are functions, one for each argument; then `second` may have the second ones, by rows. Or it is a number: `f` itself gives its value and
    its derivatives up to that order, ``(value, gradient, hessian, …)``, where the k-th is an array with k dimensions (for one argument, a number). What is
    not given is found by differences, for two orders at most; `sizes` says over what change of each argument the function changes noticeably, 1 where
    nothing is said.

    The function must give the same numbers for the same arguments, and must have no corners and jumps: write those into the formula around it. What it
    raises ends the run.

    >>> import judder, math
    >>> hills = judder.function(lambda x: 0.1 * math.sin(x), [lambda x: 0.1 * math.cos(x)])
    >>> ball = judder.Model(
    ...     functions={"hills": hills},
    ...     coordinates={"x": 0, "y": 1},
    ...     energy={"kinetic": "(x'^2 + y'^2)/2", "potential": "9.81*y"},
    ...     contact=[{"name": "ground", "gap": "y - hills(x)", "impact": 0.5}],
    ...     run={"until": 0.6},
    ... )
    >>> abs(ball.run().times("impact")[0] - (2 / 9.81) ** 0.5) < 1e-9
    True
    """
    count = _count(_callable(f, "f")) if arguments is None else int(arguments)
    if not 1 <= count <= _MOST_ARGUMENTS:
        raise TypeError(f"a function of a model has 1 to {_MOST_ARGUMENTS} arguments, not {count}")
    widths = [float(size) for size in sizes] if sizes is not None else []
    if isinstance(derivatives, (int, np.integer)):
        if second is not None:
            raise TypeError("'second' goes with a list of first derivatives")
        order = int(derivatives)
        return Function(_core.Function(count, order, order > 0, [f], widths), count, order)
    first = [_callable(each, "a derivative") for each in derivatives]
    if len(first) != count:
        raise TypeError(f"{count} arguments need {count} derivatives, not {len(first)}")
    functions = [f, *first]
    if second is not None:
        rows = [[_callable(each, "a second derivative") for each in row] for row in second]
        if len(rows) != count or any(len(row) != count for row in rows):
            raise TypeError(f"the second derivatives of {count} arguments are {count} rows of {count}")
        functions += [rows[i][j] for i in range(count) for j in range(i, count)]
    order = 1 if second is None else 2
    return Function(_core.Function(count, order, False, functions, widths), count, order)


def functions_of(given: Callables | None) -> list[tuple[str, _core.Function]]:
    """By name, as the module takes them. What is no judder.Function has no derivatives of its own."""
    out = []
    for name, each in (given or {}).items():
        made = each if isinstance(each, Function) else function(_callable(each, f"the function {name!r}"))
        out.append((name, made._core))
    return out
