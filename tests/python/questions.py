"""What is asked of a model beyond a run has the answers of the program."""
import csv
import json
import pathlib
import subprocess
import tempfile
import unittest

import judder
import numpy as np
from support import BALL, GALLERY, PROGRAM

TIMES = ("seconds", "compile_seconds", "per_second")


def printed(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True)
    return done.stdout


def without_times(value):
    """What a clock has measured is not compared."""
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if name not in TIMES}
    if isinstance(value, list):
        return [without_times(each) for each in value]
    return value


class Questions(unittest.TestCase):
    def same(self, report, *arguments):
        expected = json.loads(printed(*arguments, "--json"))
        self.assertEqual(without_times(dict(report)), without_times(expected))
        self.assertTrue(report.text)

    def test_impacts(self):
        file = GALLERY / "rod-impact" / "model.toml"
        model = judder.load(file, variants=["T22"], set={"e": 1})
        self.same(model.impact(), "impact", file, "--variant", "T22", "--set", "e=1")
        self.assertIn("<svg", model.impact()._repr_html_())

    def test_impacts_over_a_parameter(self):
        file = GALLERY / "painleve-rod" / "model.toml"
        report = judder.load(file).impact({"theta0": (0.1, 1.5, 15)})
        self.same(report, "impact", file, "--sweep", "theta0=0.1:1.5:15")
        # Painlevé's rod: tan between 37.377° and 79.188°, from a formula of its page.
        self.assertIn("0.6523581397", report.text)

    def test_a_start_without_a_collision_says_so(self):
        report = judder.Model.from_text(BALL).impact()
        self.assertIn("no collision", report.text)

    def test_rest_states(self):
        file = GALLERY / "klarbring-equilibria" / "model.toml"
        self.same(judder.load(file).equilibria(), "equilibria", file)

    def test_engines_side_by_side(self):
        file = GALLERY / "bouncing-ball" / "model.toml"
        report = judder.load(file).compare(["event", "exact"], tolerances=[1e-6, 1e-9])
        self.same(report, "compare", file, "--engines", "event,exact", "--tolerances", "1e-6,1e-9")
        with self.assertRaisesRegex(judder.UsageError, "no engine 'magic'"):
            judder.load(file).compare(["magic"])

    def test_dither(self):
        names = [path.parent for path in GALLERY.glob("*/model.toml") if "dither" in path.parent.name]
        file = names[0] / "model.toml"
        self.same(judder.load(file).dither(), "dither", file)
        self.assertIn("<svg", judder.load(file).dither().figures[0].svg())

    def test_a_sweep_has_the_table_of_the_verb(self):
        file = GALLERY / "bouncing-ball" / "model.toml"
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "t.npz"
            printed("sweep", file, "e=0.5:0.9:5", "h=0.5,1", "--collect", "count(impact), max(h')", "--until", 1.5, "-o", table)
            with np.load(table) as arrays:
                expected = {name: arrays[name] for name in arrays.files}
            kept = pathlib.Path(folder) / "kept.npz"
            swept = judder.load(file).sweep(e=np.linspace(0.5, 0.9, 5), h=[0.5, 1], collect=["count(impact)", "max(h')"], until=1.5, output=kept)
            self.assertTrue(kept.is_file())
        self.assertEqual(set(swept), set(expected))
        for name, each in expected.items():
            self.assertEqual(each.tobytes(), swept[name].tobytes(), name)
        self.assertEqual(swept["count(impact)"].shape, (5, 2))
        self.assertEqual(list(swept.axes), ["e", "h"])
        self.assertTrue(swept.ok)

    def test_a_sweep_of_a_model_without_a_file_is_that_of_its_runs(self):
        model = judder.Model.from_text(BALL)
        swept = model.sweep(e=[0.25, 0.5, 0.75], collect="end(h), count(impact)")
        for i, e in enumerate(swept.axes["e"]):
            run = model.run(e=float(e))
            self.assertEqual(swept["end(h)"][i], run.last("h"))
            self.assertEqual(swept["count(impact)"][i], len(run.times("impact")))

    def test_rows_and_random_values_of_a_sweep(self):
        model = judder.Model.from_text(BALL)
        rows = model.sweep({"e": [0.2, 0.4], "h": [1.0, 2.0]}, rows=True, collect="start(h)")
        self.assertEqual(list(rows["start(h)"]), [1.0, 2.0])
        drawn = model.sweep(h=(1, 2), random=20, seed=3, collect="start(h)")
        self.assertEqual(drawn["start(h)"].shape, (20,))
        self.assertTrue(np.all((drawn["h"] >= 1) & (drawn["h"] < 2)))
        self.assertGreater(len(set(drawn["h"])), 10)

    def test_mistakes_in_a_sweep_are_said(self):
        model = judder.Model.from_text(BALL)
        for ask, said in (
            (lambda: model.sweep(collect="max(h)"), "nothing to go over"),
            (lambda: model.sweep(e=[0.1], collect="greatest(h)"), "greatest"),
            (lambda: model.sweep(e=[0.1], collect="period", engine="moreau"), "event, exact or auto"),
            (lambda: model.sweep({"e": [1, 2], "h": [1]}, rows=True, collect="max(h)"), "equally many"),
        ):
            with self.assertRaisesRegex(judder.UsageError, said):
                ask()
        with self.assertRaisesRegex(judder.ModelError, "hh"):
            model.sweep(e=[0.1], collect="max(hh)")
        with self.assertRaisesRegex(TypeError, "neither an option nor a parameter"):
            model.sweep(mu=[0.1], collect="max(h)")

    def test_a_tuple_of_three_numbers_is_no_axis(self):
        ball = judder.load(GALLERY / "bouncing-ball" / "model.toml")
        for ask in (
            lambda: ball.sweep(e=(0.5, 0.9, 5), collect="count(impact)"),
            lambda: ball.bifurcation("e", (0.5, 0.9, 5), section="impact"),
            lambda: ball.basin({"h": (0.5, 0.9, 5)}),
        ):
            with self.assertRaisesRegex(TypeError, r"'\w' could be three values or a range, \(0.5, 0.9, 5\).*\[1, 2, 3\].*np.linspace"):
                ask()
        self.assertEqual(len(ball.sweep(e=(0.5, 0.9), collect="count(impact)", until=1)["e"]), 2)

    def test_a_sweep_prints_its_table(self):
        ball = judder.load(GALLERY / "bouncing-ball" / "model.toml")
        table = ball.sweep(e=np.linspace(0.5, 0.9, 25), collect="count(impact)", until=1)
        lines = str(table).splitlines()
        self.assertEqual(lines[0].split()[:1], ["e"])
        self.assertEqual([float(line.split()[0]) for line in lines[1:21]], [float(f"{e:.9g}") for e in np.linspace(0.5, 0.9, 25)[:20]])
        self.assertEqual(lines[21], "… 5 more runs")
        self.assertIn("25 runs, all ended well", repr(table))

    def test_basins(self):
        file = GALLERY / "rocking-basin" / "model.toml"
        report = judder.load(file).basin({"y": np.linspace(0, 1, 5), "y'": np.linspace(-2, 2, 5)})
        self.assertEqual(report.labels.shape, (5, 5))
        with tempfile.TemporaryDirectory() as folder:
            self.same(report, "basin", file, "y=0:1:5", "y'=-2:2:5", "-o", folder + "/b.npz")
            with np.load(folder + "/b.npz") as arrays:
                self.assertTrue(any(np.array_equal(arrays[name], report.labels) for name in arrays.files))

    def test_section_points_over_a_parameter(self):
        file = GALLERY / "bouncing-table" / "model.toml"
        found = judder.load(file).bifurcation("Gamma", np.linspace(0.9, 1.25, 4), section="impact:table", skip=20, keep=10)
        with tempfile.TemporaryDirectory() as folder:
            words = printed("bifurcation", file, "Gamma=0.9:1.25:4", "--section", "impact:table", "--skip", 20, "--keep", 10, "-o", folder + "/d.csv")
            with open(folder + "/d.csv", newline="") as table:
                rows = list(csv.DictReader(table))
        self.assertGreater(len(rows), 10)
        self.assertEqual([float(row["t"]) for row in rows], list(found.points["t"]))
        self.assertEqual(len(found.values), 4)
        self.assertEqual(str(found), words)
        self.assertIn("4 values", repr(found))
        (picture,) = found.figures
        self.assertEqual(sum(len(series["x"]) for panel in picture.data()["panels"] for series in panel["series"]), len(found.points))
        with self.assertRaisesRegex(judder.UsageError, "no section 'noon'"):
            judder.load(file).bifurcation("Gamma", [1, 2], section="noon")

    def test_a_recorded_run_is_that_of_the_verb(self):
        file = GALLERY / "bouncing-ball" / "model.toml"
        with tempfile.TemporaryDirectory() as folder:
            recorded = judder.load(file).record(folder + "/ours", until=1.0, page=True)
            printed("run", file, "--until", 1.0, "-o", folder + "/theirs")
            for name in ("trajectory.csv", "events.csv"):
                self.assertEqual(pathlib.Path(folder, "ours", name).read_bytes(), pathlib.Path(folder, "theirs", name).read_bytes())
            self.assertTrue((recorded.folder / "report.html").is_file())
            self.assertTrue(recorded.ok)
            longer = judder.load(file).record(folder + "/ours", until=1.2, resume=True)
            self.assertEqual(longer.status.time, 1.2)
            with self.assertRaisesRegex(OSError, "proc"):
                judder.load(file).record("/proc/nowhere")

    def test_verification_counts_and_fails(self):
        checked = judder.verify("bouncing-ball")
        self.assertTrue(checked.ok)
        self.assertIn(f"{checked.passed} passed, 0 failed", checked.text)
        with tempfile.TemporaryDirectory() as folder:
            wrong = pathlib.Path(folder) / "wrong"
            wrong.mkdir()
            for name in ("model.toml", "reference.toml"):
                text = (GALLERY / "bouncing-ball" / name).read_text()
                wrong.joinpath(name).write_text(text.replace("9.81", "9.5") if name == "model.toml" else text)
            off = judder.verify(wrong)
        self.assertFalse(off.ok)
        self.assertGreater(off.failed, 0)
        with self.assertRaisesRegex(OSError, "no bundled model"):
            judder.verify("no-such-model")

    def test_equations_are_those_of_explain(self):
        file = GALLERY / "press" / "model.toml"
        self.assertEqual(judder.load(file).explain(), printed("explain", file))
        self.assertEqual(judder.load(file).latex(symbolic=True), printed("explain", file, "--latex", "--symbolic"))


if __name__ == "__main__":
    unittest.main()
