#!/usr/bin/env python3
"""The numbers of the worked pages: worked.py SOURCE PROGRAM

The models are taken out of docs/worked/*.md and docs/tutorial.md and run. What comes out is compared with closed forms, or where there is none with an integration in small steps that is
written here and knows nothing of events. The numbers that the pages print by hand are those of the closed forms.
"""
import csv
import math
import pathlib
import re
import subprocess
import sys
import tempfile

source, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
failures, count = [], 0


class Run:
    def __init__(self, folder):
        with open(folder / "events.csv", encoding="utf-8") as file:
            self.events = list(csv.DictReader(file))
        with open(folder / "trajectory.csv", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        self.column = {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}

    def times(self, kind, where=None):
        return [float(e["time"]) for e in self.events if e["kind"] == kind and where in (None, e["where"])]


def run(folder, model, *more):
    out = folder / f"run-{model}-{'-'.join(more).replace('/', '_')}"
    done = subprocess.run([program, "run", str(folder / f"{model}.toml"), "-o", str(out), *more], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        failures.append(f"{model} {' '.join(more)}: exit {done.returncode}: {done.stderr.strip()}")
        return None
    return Run(out)


def same(what, found, expected, tolerance=1e-8, page=None):
    """`page`: prints the expected number, or what is left of it when it is cut."""
    global count
    count += 1
    if not abs(found - expected) <= tolerance * max(1e-300, abs(expected)):
        failures.append(f"{what}: {found!r}, not {expected!r}")
    if page is not None:
        text = (source / f"docs/worked/{page}.md").read_text(encoding="utf-8")
        shown = [float(word) for word in re.findall(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?", text)]
        near = min((abs(x - expected) / abs(expected) for x in shown), default=1)
        if near > 2e-6:
            failures.append(f"{what}: docs/worked/{page}.md does not print {expected!r}")


def bisect(f, a, b):
    fa = f(a)
    for _ in range(200):
        m = (a + b) / 2
        if (f(m) < 0) == (fa < 0):
            a = m
        else:
            b = m
    return (a + b) / 2


def wheel(folder):
    page = "rolling-and-spin"
    stop = 1.5 / (2 * 0.003 * 9.81 / (3 * 0.3))
    found = run(folder, "wheel")
    same("the wheel stops", found.times("stick", "rolling")[0], stop, page=page)
    same("and has gone", found.column["x"][-1], 1.5 * stop / 2)
    moment = 3 * math.pi / 16 * 0.25 * 0.0008 * 0.2 * 9.81
    same("the spin ends", run(folder, "spin").times("stick")[0], 120 * 0.4 * 0.2 * 0.03**2 / moment, page=page)


def dahl(folder):
    for v0 in (0.5, 1.0):
        turn = bisect(lambda x: 3 * (x - 0.005 * (1 - math.exp(-x / 0.005))) - v0 * v0 / 2, 0, 1)
        found = run(folder, "dahl", "--set", f"v0={v0}", "--until", "1")
        same("Dahl turns", max(found.column["x"]), turn, 1e-7, page="dahl" if v0 == 0.5 else None)


def iwan(folder):
    k, limit = [400, 300, 200, 100], [0.5, 1.0, 1.5, 2.0]
    slider, work, step = [0.0] * 4, 0.0, 1e-5
    largest = 0.0
    for i in range(1, round(2.25 / step) + 1):  # each slider by itself: elastic, then cut at its limit
        u = 0.03 * math.sin(2 * math.pi * i * step)
        force = 0.0
        for j in range(4):
            pull = k[j] * (u - slider[j])
            if abs(pull) > limit[j]:
                new = u - math.copysign(limit[j] / k[j], pull)
                work += limit[j] * abs(new - slider[j])
                slider[j] = new
            force += k[j] * (u - slider[j])
        largest = max(largest, force)
    cycle = sum(4 * f * (0.03 - f / s) for f, s in zip(limit, k))
    same("a cycle of the sliders", cycle, 0.3791666666666667, page="maxwell-slip")
    found = run(folder, "iwan")
    at = {round(t, 9): w for t, w in zip(found.column["t"], found.column["W"])}
    same("work of two cycles and a quarter", found.column["W"][-1], work, 1e-6)
    same("largest force", max(found.column["R"]), 5, 1e-9)
    same("largest force in small steps", largest, 5, 1e-9)
    same("work between the crests", found.column["W"][-1] - at[0.25], 2 * cycle, 1e-9)


def tanh(folder):
    creep = 0.01 * math.atanh(math.tan(0.2) / 0.4)
    same("creep", run(folder, "tanh").column["x'"][-1], creep, 1e-7, page="tanh")


def measured(folder):
    xs, ys = [0, 0.5, 2, 5, 10], [0.45, 0.38, 0.33, 0.30, 0.29]

    def mu(u):
        i = max(j for j in range(4) if xs[j] <= u)
        return ys[i] + (ys[i + 1] - ys[i]) * (u - xs[i]) / (xs[i + 1] - xs[i])

    speeds = [7.2, 5, 2, 0.5, 0]
    stop = sum(0.8 * (a - b) / (0.12**2 * 250) * math.log(mu(a) / mu(b)) / (mu(a) - mu(b)) for a, b in zip(speeds, speeds[1:]))
    same("the brake stops", run(folder, "measured").times("stick")[0], stop, page="measured-friction")


def gears(folder):
    found = run(folder, "gears")
    times, t = [], 0.0
    for j in range(6):
        t += 1e-4 / 0.4 if j == 0 else 2e-4 / (0.4 * 0.6**j)
        times.append(t)
    for a, b in zip(found.times("impact"), times):
        same("flank", a, b)
    same("number of impacts", len(found.times("impact")), len(times))
    same("impulse", float(found.events[0]["normal_impulse"]), 1.6 * 0.4 / (0.04**2 / 0.02 + 0.08**2 / 0.05), page="gears")
    driven = run(folder, "gears", "--variant", "driven", "--until", "3")
    # At the end both turn as one: reduced to the first shaft, J w' = M - c (r1/r2)^2 w, and the tooth carries what the load needs.
    inertia, ratio = 0.02 + 0.05 * 0.25, 0.5
    n = driven.column["N"][-1]
    w1, w2 = driven.column["p1'"][-1], driven.column["p2'"][-1]
    same("the gears mesh", w2, ratio * w1, 1e-9)
    rate = (3 - 0.5 * ratio**2 * w1) / inertia
    same("force of the tooth", n, (3 - 0.02 * rate) / 0.04, 1e-7)


def valve(folder):
    m, k, preload, h = 0.12, 25e3, 250, 0.009
    limit = math.sqrt(2 * (k * h + preload) / (m * h))
    same("the valve floats from", limit * 60 / (2 * math.pi), 8956.14893337816, page="cam-valve")
    low = run(folder, "valve", "--set", f"rpm={limit * 30 / math.pi * 0.9999}")
    high = run(folder, "valve", "--set", f"rpm={limit * 30 / math.pi * 1.0001}")
    same("follows below", len(low.times("lift-off")), 0)
    same("floats above", float(len(high.times("lift-off")) > 0), 1.0)
    om = 2 * math.pi * 9500 / 60
    angle = math.acos(-(k * h / 2 + preload) / (m * h * om * om / 2 - k * h / 2))
    same("angle", angle, 2.604361131516014, page="cam-valve")
    same("it leaves", run(folder, "valve", "--set", "rpm=9500").times("lift-off")[0], angle / om)


def clutch(folder):
    torque = 0.35 * 2 * 1500 * 0.11
    lock = 250 / ((torque - 40) / 0.2 + torque / 1.1)
    found = run(folder, "clutch")
    same("the clutch locks", found.times("stick")[0], lock, page="clutch")
    same("heat", found.column["Q"][-1], torque * 250 * lock / 2, page="clutch")
    same("carries", abs(found.column["M"][-1]), 40 * 1.1 / 1.3, page="clutch")
    same("speed", found.column["b'"][-1], torque / 1.1 * lock + 40 / 1.3 * (1 - lock))
    same("the weak one slips", len(run(folder, "clutch", "--variant", "weak").times("stick")), 0)


def drill(folder):
    w = math.sqrt(361 / 374)
    eps = 3500 / 361
    found = run(folder, "drill")
    fast = 4 + math.sqrt(16 + (eps * w) ** 2)
    slip = 2 * (math.pi - math.atan(eps * w / 4)) / w
    sticks, slips = found.times("stick", "rock"), found.times("slip", "rock")
    same("slip lasts", sticks[1] - max(t for t in slips if t < sticks[1]), slip, 1e-7, page="drill-string")
    same("stick lasts", min(t for t in slips if t > sticks[0]) - sticks[0], 2 * eps / 4, 1e-7, page="drill-string")
    same("largest speed", max(found.column["bit"]), fast, 1e-3)
    same("largest speed on the page", fast, 14.33108569152417, page="drill-string")


def conveyor(folder):
    g, mu, om = 9.81, 0.6, 2 * math.pi * 25
    ax, ay = 0.002 * math.cos(0.5236), 0.002 * math.sin(0.5236)
    gamma = ay * om * om / g
    found = run(folder, "conveyor", "--until", "0.1")
    leave = math.asin(1 / gamma) / om
    same("it leaves", found.times("lift-off")[0], leave, page="conveyor")
    y, v = ay * math.sin(om * leave), ay * om * math.cos(om * leave)
    land = bisect(lambda t: y + v * (t - leave) - g / 2 * (t - leave) ** 2 - ay * math.sin(om * t), leave + 0.005, leave + 0.05)
    same("it lands", found.times("impact")[0], land)
    # Moreau's scheme, written here: a step of 1e-6 s, no events.
    h, t, x, yy, vx, vy = 1e-6, 0.0, 0.0, 0.0, ax * om, ay * om
    while t < 0.1 - h / 2:
        t += h
        tx, ty = ax * om * math.cos(om * t), ay * om * math.cos(om * t)
        vy -= g * h
        if yy + h * vy < ay * math.sin(om * t):
            push = max(0.0, ty - vy)
            vy += push
            slide = tx - vx
            vx += math.copysign(min(abs(slide), mu * push), slide)
        x, yy = x + h * vx, yy + h * vy
        yy = max(yy, ay * math.sin(om * t))
    same("carried, in small steps", found.column["x"][-1], x, 2e-3)


def tutorial(folder):
    block = run(folder, "block")
    same("back after a period", block.column["x"][-1], 0.3, 1e-8)
    rough = run(folder, "rough")
    loss = 2 * 0.1 * 2 * 9.81 / 50
    for i, t in enumerate(rough.times("reversal")):
        same("reversal", t, (i + 1) * math.pi * math.sqrt(2 / 50), 1e-9)
    same("where it rests", rough.column["x"][-1], 0.3 - 4 * loss, 1e-8)
    wall = run(folder, "wall")
    speed = math.sqrt(2 * (25 * (0.09 - 0.01) - 0.1 * 2 * 9.81 * 0.4) / 2)
    same("impulse of the wall", float(wall.events[0]["normal_impulse"]), 2 * 1.5 * speed)
    machine = run(folder, "machine", "--until", "30")
    late = [t for t in machine.times("impact", "wall") if t > 20]
    for a, b in zip(late, late[1:]):
        same("one impact per turn of the crank", b - a, 2 * math.pi / 6, 1e-4)
    for speed, reached in ((9, True), (10, False)):
        same(f"the wall at {speed}", float(any(t > 10 for t in run(folder, "machine", "--set", f"om={speed}").times("impact", "wall"))), float(reached))


checks = {"tutorial": tutorial, "wheel": wheel, "dahl": dahl, "iwan": iwan, "tanh": tanh, "measured": measured, "gears": gears, "valve": valve, "clutch": clutch, "drill": drill,
          "conveyor": conveyor}
with tempfile.TemporaryDirectory() as place:
    pages = sorted(page for page in source.glob("docs/worked/*.md") if page.stem != "index")
    for page in [*pages, source / "docs/tutorial.md"]:
        for name, body in re.findall(r"<!-- file: (\S+) -->\n```toml\n(.*?)```\n", page.read_text(encoding="utf-8"), re.S):
            (pathlib.Path(place) / name).write_text(body, encoding="utf-8")
    for name, check in checks.items():
        try:
            check(pathlib.Path(place))
        except (AttributeError, IndexError, KeyError, ValueError) as error:  # what was to be measured did not happen
            failures.append(f"{name}: {type(error).__name__}: {error}")

print(f"{len(pages)} pages, {count} numbers, {len(failures)} failures")
print("\n".join(failures))
sys.exit(1 if failures or count < 35 or len(pages) != 10 else 0)
