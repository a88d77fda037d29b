"""Judder in a quarter of an hour: a notebook as a script.

    python3 tour.py [FOLDER]        figures go into FOLDER (default: tour)

Cells begin with `# %%`; Jupyter (with jupytext), Spyder and Visual Studio Code run them one by one.
"""

# %% A model: the tables of a model file, as Python's own.
import pathlib
import sys

import judder
import numpy as np

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tour")
folder.mkdir(parents=True, exist_ok=True)

crate = judder.Model(
    title="A crate that is pushed, slides and stops",
    parameters={"m": 20, "g": 9.81, "mu": 0.4, "F": 150},
    coordinates={"x": 0},
    energy={"kinetic": "m/2*x'^2"},
    force=[{"name": "push", "along": "x'", "value": "F*step(1 - t)"}],
    friction=[{"name": "floor", "slip": "x'", "normal": "m*g", "law": {"static": "1.2*mu", "dynamic": "mu"}}],
    run={"until": 3},
)
print(crate.explain())

# %% A run: events with their times, columns as arrays.
run = crate.run()
for event in run.events:
    print(f"{event['time']:.9f}  {event['kind']:8} {event['where']}")

# By hand: 150 N less 78.48 N of friction accelerate 20 kg for one second, and friction alone needs another 0.9113 s to stop them.
stop = 1 + (150 - 0.4 * 20 * 9.81) / (0.4 * 20 * 9.81)
assert abs(run.times("stick", "floor")[0] - stop) < 1e-9
print("stops at", stop, "and at x =", run.last("x"))

# %% Every run has a referee, which reads the laws from the model alone.
checks = sum(law["checks"] for law in run.referee["laws"])
print(checks, "checks,", len(run.referee["findings"]), "findings")
assert run.ok

# %% Other values, for one run or for many. Open parameters cost no compilation.
pushed = judder.Model.from_text(crate.text, open=["F"])
for F in (100.0, 150.0, 200.0):
    print(F, pushed.run(F=F).last("x"))

table = crate.sweep(F=np.linspace(100, 200, 21), mu=[0.3, 0.4], collect="end(x), max(x'), count(stick)")
print(table["end(x)"].shape, "runs; the farthest goes", table["end(x)"].max(), "m")

# %% A mistake is an exception that shows where it is.
try:
    judder.Model(coordinates={"x": 0}, energy={"kinetic": "x'^2/2", "potential": "k*x^2/2"}, run={"until": 1})
except judder.ModelError as problem:
    print(problem)

# %% A bundled model, by two engines. The exact one has no step and no tolerance.
press = judder.load(judder.gallery_folder() / "press" / "model.toml")
exact = press.run(engine="exact")
event = press.run(engine="event", tolerance=1e-10)
difference = np.abs(exact.events["time"] - event.events["time"]).max()
print(len(exact.events), "events, times differ by", difference)
assert difference < 1e-6

# %% Figures: as SVG by the library itself, or by matplotlib.
for figure in exact.figures(("t", "xi'"), ("eta", "eta'")):
    (folder / f"{figure.name}.svg").write_text(figure.svg())
try:
    exact.plot(("t", "xi'", "eta'")).savefig(folder / "press.png")
    judder.load(judder.gallery_folder() / "belt" / "model.toml").plot_law().savefig(folder / "law.png")
except ImportError as problem:
    print(problem)
print(*sorted(path.name for path in folder.iterdir()))

# %% Moved on from outside: a controller that brakes the crate as it passes 0.5 m.
stepper = crate.stepper(until=3)
while stepper["x"] < 0.5 and stepper.advance_to(stepper.time + 0.01):
    pass
print("at", round(stepper.time, 2), "s the crate is at", stepper["x"])

# %% Where it can rest, and the collision of a rod by four laws.
print(judder.load(judder.gallery_folder() / "klarbring-equilibria" / "model.toml").equilibria())
print(judder.load(judder.gallery_folder() / "rod-impact" / "model.toml", variants=["T22"], set={"e": 1}).impact())
