"""Mechanical systems that hit, slip, stick and jam.

A model is read, made of a text, or built of Python's own tables; a run gives columns as NumPy arrays, events as a structured array, and what the
referee found:

>>> import judder
>>> ball = judder.Model(
...     parameters={"e": 0.5, "g": 9.81},
...     coordinates={"h": 1.0},
...     energy={"kinetic": "h'^2/2", "potential": "g*h"},
...     contact=[{"name": "ground", "gap": "h", "impact": "e"}],
...     run={"until": 1.2},
... )
>>> run = ball.run(until=1.0, engine="exact")
>>> run.ok
True
>>> abs(run.times("impact")[0] - (2 / 9.81) ** 0.5) < 1e-12
True

docs/python.md is the page about it.
"""
from ._core import Cancel, Error, FileError, ModelError, RunError, UsageError, engines
from ._core import version as __version__
from ._function import Function, function
from ._gallery import Verification, gallery, gallery_folder, verify
from ._model import Basin, Bifurcation, Model, ModelWarning, Recorded, Stepper, load
from ._plot import draw
from ._results import Figure, Report, Sweep
from ._run import Run, RunWarning

for _each in (Error, FileError, ModelError, RunError, UsageError):
    _each.__module__ = "judder"

__all__ = [
    "Basin",
    "Bifurcation",
    "Cancel",
    "Error",
    "Figure",
    "FileError",
    "Function",
    "Model",
    "ModelError",
    "ModelWarning",
    "Recorded",
    "Report",
    "Run",
    "RunError",
    "RunWarning",
    "Stepper",
    "Sweep",
    "UsageError",
    "Verification",
    "__version__",
    "draw",
    "engines",
    "function",
    "gallery",
    "gallery_folder",
    "load",
    "verify",
]
