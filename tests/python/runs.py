"""Models and runs from Python, against closed forms and against the program."""
import csv
import gc
import math
import subprocess
import tempfile
import unittest
import warnings
import weakref

import judder
import numpy as np
from support import BALL, GALLERY, PROGRAM


class Runs(unittest.TestCase):
    def test_a_falling_ball_meets_the_ground_when_it_must(self):
        run = judder.Model.from_text(BALL).run()
        # h = 1 - g t²/2; each flight takes e times as long as the one before it.
        fall = math.sqrt(2 / 9.81)
        expected = [fall, fall + 2 * 0.5 * fall, fall + 2 * (0.5 + 0.25) * fall]
        np.testing.assert_allclose(run.times("impact", "ground")[:3], expected, rtol=1e-9)
        self.assertAlmostEqual(run.events["normal_impulse"][0], 1.5 * math.sqrt(2 * 9.81), places=9)
        before = run.t < fall
        np.testing.assert_allclose(run["h"][before], 1 - 9.81 * run.t[before] ** 2 / 2, atol=1e-8)

    def test_the_bits_are_those_of_the_program(self):
        for engine in ("event", "exact"):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([PROGRAM, "run", GALLERY / "press" / "model.toml", "--engine", engine, "--set", "mu=0.35", "-o", folder + "/run"], check=True, capture_output=True)
                with open(folder + "/run/trajectory.csv", newline="") as file:
                    rows = list(csv.reader(file))
                with open(folder + "/run/events.csv", newline="") as file:
                    events = list(csv.DictReader(file))
            run = judder.load(GALLERY / "press" / "model.toml").run({"mu": 0.35}, engine=engine)
            words = set(run._model.words)
            self.assertEqual(run.columns, rows[0])
            self.assertEqual(len(run.rows), len(rows) - 1)
            for i, name in enumerate(rows[0]):
                if name in words:
                    self.assertEqual(list(run.words(name)), [row[i] for row in rows[1:]])
                else:
                    self.assertEqual([float(row[i]) for row in rows[1:]], list(run[name]), name)
            self.assertEqual([float(event["time"]) for event in events], list(run.events["time"]))
            for name in ("kind", "where", "detail"):
                self.assertEqual([event[name] for event in events], list(run.events[name]), name)
            self.assertEqual(run.events.dtype.names[:7], ("time", "kind", "where", "detail", "normal_impulse", "tangential_impulse", "energy_lost"))
            self.assertEqual([float(event["xi'"]) for event in events], list(run.events["xi'"]))

    def test_values_are_given_in_a_mapping_or_as_keywords(self):
        model = judder.Model.from_text(BALL, open=["e"])
        by_mapping = model.run({"e": 0.7, "h'": -1.0, "h": 2})
        by_keyword = model.run({"h'": -1.0}, e=0.7, h=2)
        self.assertEqual(by_mapping.rows.tobytes(), by_keyword.rows.tobytes())
        folded = model.with_({"e": 0.7, "h'": -1.0, "h": 2}).run()
        self.assertEqual(by_mapping.rows.tobytes(), folded.rows.tobytes())
        self.assertFalse(by_mapping.compiled)
        with self.assertRaisesRegex(TypeError, "given twice"):
            model.run({"e": 0.7}, e=0.7)
        with self.assertRaisesRegex(TypeError, "'mu' is neither.*e, g, h, h'"):
            model.run(mu=0.1)

    def test_a_keyword_that_could_be_mistaken_is_refused(self):
        warnings.simplefilter("ignore", judder.ModelWarning)  # they are not used
        model = judder.Model.from_text(BALL.replace("e = 0.5", "e = 0.5\nstep = 2"))
        with self.assertRaisesRegex(TypeError, "'step' is an option and a value"):
            model.run(step=0.1)
        self.assertTrue(model.run({"step": 3.0}).ok)
        other = judder.Model.from_text(BALL.replace("e = 0.5", "e = 0.5\nreferee = 2\nseed = 3"))
        with self.assertRaisesRegex(TypeError, "'referee' is an option and a value"):
            other.run(referee=0.5)
        with self.assertRaisesRegex(TypeError, "'seed' is an option and a value"):
            other.sweep(seed=[4.0], collect="max(h)")
        self.assertTrue(other.sweep({"seed": [4.0]}, collect="max(h)").ok)

    def test_fixed_steps_take_their_step(self):
        # With theta = 1 the height after free fall is off by g h t/2: the rule takes the velocity at the end of each step.
        model = judder.Model.from_text(BALL + "[run.theta]\ntheta = 1\n", set={"e": 0})
        for step in (1e-2, 5e-3):
            run = model.run(engine="theta", step=step, until=0.4)
            self.assertAlmostEqual(run.last("h"), 1 - 9.81 * 0.4**2 / 2 - 9.81 * step * 0.4 / 2, places=12)
            self.assertEqual(run.engine, "theta")

    def test_columns_are_views_that_keep_the_run_alive(self):
        run = judder.Model.from_text(BALL).run()
        column = run["h"]
        self.assertTrue(np.shares_memory(column, run.rows))
        # The memory of the run itself, each time that it is asked for.
        self.assertEqual(run._core.rows.__array_interface__["data"], run.rows.__array_interface__["data"])
        copy = column.copy()
        core = weakref.ref(run)
        del run
        gc.collect()
        self.assertIsNone(core())  # the wrapper is gone, what it held is not
        junk = [np.full(len(copy) * 4, 7.0) for _ in range(50)]
        self.assertEqual(column.tobytes(), copy.tobytes())
        del junk
        with self.assertRaises(ValueError):
            column[0] = 1.0

    def test_a_model_built_of_tables_is_that_of_the_text(self):
        built = judder.Model(
            title="A ball", parameters={"e": 0.5, "g": np.float64(9.81)}, coordinates={"h": 1}, energy={"kinetic": "h'^2/2", "potential": "g*h"},
            contact=[{"name": "ground", "gap": "h", "impact": "e"}], run={"until": 1.2},
        )
        self.assertEqual(built.run().rows.tobytes(), judder.Model.from_text(BALL).run().rows.tobytes())
        again = judder.Model.from_text(built.text)
        self.assertEqual(again.run().rows.tobytes(), built.run().rows.tobytes())
        with self.assertRaisesRegex(TypeError, r"contact\[0\].gap: .* not complex"):
            judder.Model(coordinates={"h": 1}, contact=[{"gap": 1j}])

    def test_every_kind_of_value_survives_the_way_through_a_text(self):
        model = judder.Model(
            parameters={"a": 0.1 + 0.2, "b": 10**15, "list": np.array([1.5, 2.5]), "matrix": np.eye(2)},
            definitions={"f(u)": "a*u", "energy": "x'^2 + 3/2*y'^2"},
            coordinates={"x": {"start": 1e-300, "velocity": "a"}, "y": 0.0},
            matrices={"mass": [[2.0, 0.0], [0.0, 3]], "stiffness": np.array([[1.0, 0], [0, 1]])},
            force=[{"along": "x'", "value": "f(1)*list[2] + matrix[1, 2]"}],
            variants={"fast": {"title": 'quotes " and \\ back', "x'": 2.0}},
            run={"until": 1, "moreau": {"theta": 0.5}},
            output={"samples": 3, "event_rows": True, "columns": {"E T": "energy"}},
        )
        self.assertEqual(model.parameters["a"], 0.1 + 0.2)
        self.assertEqual(model.variants, ["fast"])
        self.assertEqual(model.run()["E T"].shape, (3,))
        self.assertIn("event_rows = true\n", model.text)

    def test_mistakes_in_a_model_show_file_line_and_caret(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(BALL.replace("g*h", "g*hight"))
            file.flush()
            with self.assertRaises(judder.ModelError) as caught:
                judder.load(file.name)
        said = str(caught.exception)
        self.assertIn(f"{file.name}:13:16: error: unknown name 'hight'", said)
        self.assertIn('potential = "g*hight"\n', said)
        self.assertIn("^~~~~", said)
        self.assertIsInstance(caught.exception, ValueError)
        self.assertIsInstance(caught.exception, judder.Error)
        with self.assertRaisesRegex(judder.FileError, "there is no such file"):
            judder.load("nowhere.toml")

    def test_a_run_that_cannot_begin_raises_and_one_that_fails_warns(self):
        model = judder.Model.from_text(BALL)
        with self.assertRaisesRegex(judder.RunError, "there is no engine"):
            model.run(engine="magic")
        with self.assertRaisesRegex(judder.RunError, "tolerance"):
            model.run(tolerance=-1)
        falls = judder.Model.from_text(BALL.replace("until = 1.2", 'until = 9\nmax_events = 3'))
        with self.assertWarnsRegex(judder.RunWarning, "too-many-events"):
            run = falls.run()
        self.assertFalse(run.ok)
        self.assertEqual(run.status.reason, "too-many-events")
        with self.assertRaisesRegex(judder.RunError, "too-many-events"):
            run.check()
        self.assertIs(model.run().check().ok, True)

    def test_what_the_referee_finds_comes_with_the_run(self):
        run = judder.Model.from_text(BALL).run()
        self.assertTrue(run.referee["judged"])
        self.assertEqual(run.referee["findings"], [])
        self.assertGreater(sum(law["checks"] for law in run.referee["laws"]), 100)
        self.assertFalse(judder.Model.from_text(BALL).run(referee=False).referee["judged"])
        summary = run.summary
        self.assertEqual(summary["reason"], "done")
        self.assertEqual(summary["events"]["impact"], len(run.times("impact")))
        self.assertEqual(summary["extremes"]["h"], (float(run["h"].min()), float(run["h"].max())))

    def test_warnings_of_a_model_are_warnings(self):
        with self.assertWarnsRegex(judder.ModelWarning, "model:.*the parameter 'idle' is not used"):
            model = judder.Model.from_text(BALL.replace("g = 9.81", "g = 9.81\nidle = 3"))
        self.assertIn("idle", model.problems)

    def test_names_that_do_not_exist_are_key_errors(self):
        run = judder.Model.from_text(BALL).run()
        for ask in (lambda: run["speed"], lambda: run.last("speed")):
            with self.assertRaisesRegex(KeyError, "no column 'speed'.*t, h, h'"):
                ask()

    def test_kinds_and_places_of_events_that_do_not_exist_are_key_errors(self):
        run = judder.Model.from_text(BALL).run()
        self.assertEqual(len(run.times("stick")), 0)
        self.assertEqual(len(run.times("lift-off", "ground")), int(np.sum(run.events["kind"] == "lift-off")))
        with self.assertRaisesRegex(KeyError, "no event 'impct'.*impact, .*watch"):
            run.times("impct", "ground")
        with self.assertRaisesRegex(KeyError, "no place 'grond'.*ground"):
            run.times("impact", "grond")
        for name in ("press", "belt", "rocking-block"):
            every = judder.load(GALLERY / name / "model.toml").run(until=2)
            pairs = {(str(event["kind"]), str(event["where"])) for event in every.events}
            times = [time for kind, where in pairs for time in every.times(kind, where)]
            self.assertEqual(sorted(times), sorted(every.events["time"]))

    def test_columns_of_figures_that_do_not_exist_are_key_errors(self):
        run = judder.Model.from_text(BALL).run()
        with self.assertRaisesRegex(KeyError, "no column 'g9'.*t, h, h'"):
            run.figures(("t", "g9"))
        with self.assertRaisesRegex(TypeError, "pair of columns"):
            run.figures("t")

    def test_a_file_that_cannot_be_read_is_a_file_error(self):
        with tempfile.TemporaryDirectory() as folder:
            for file in (folder + "/nix.toml", folder):
                with self.assertRaisesRegex(judder.FileError, "no such file|a folder, not a model file") as raised:
                    judder.load(file)
                self.assertIsInstance(raised.exception, OSError)
                self.assertIn(file, str(raised.exception))

    def test_what_is_no_number_is_named(self):
        model = judder.Model.from_text(BALL)
        for ask in (lambda: model.run(until="x"), lambda: model.stepper(until="x")):
            with self.assertRaisesRegex(TypeError, "^'until' must be a number, not 'x'$"):
                ask()
        for ask in (lambda: model.run({"h'": "fast"}), lambda: model.with_({"h'": "fast"}), lambda: judder.Model.from_text(BALL, set={"h'": "fast"})):
            with self.assertRaisesRegex(TypeError, "h' *\"? must be a number, not 'fast'"):
                ask()
        with self.assertRaisesRegex(TypeError, "whole number"):
            model.run(samples=2.5)

    def test_how_a_run_ended_is_said_in_words(self):
        self.assertEqual(repr(judder.Model.from_text(BALL).run(until=0.25).status), "<judder.Status done at t = 0.25>")

    def test_coordinates_called_as_fields_of_events_keep_both(self):
        model = judder.Model(coordinates={"kind": {"start": 1, "velocity": -1}}, energy={"kinetic": "kind'^2/2"}, contact=[{"name": "w", "gap": "kind", "impact": 1}], run={"until": 2})
        event = model.run().events[0]
        self.assertEqual(event["kind"], "impact")
        self.assertAlmostEqual(event["state.kind"], 0.0)
        self.assertAlmostEqual(event["kind'"], 1.0)


class Observers(unittest.TestCase):
    def test_false_ends_the_run_there(self):
        model = judder.Model.from_text(BALL)
        seen = []
        run = model.run(on_event=lambda event: seen.append(event.time) or (False if event.kind == "impact" else None))
        self.assertTrue(run.stopped)
        self.assertEqual(len(seen), 1)
        self.assertAlmostEqual(run.status.time, math.sqrt(2 / 9.81))

    def test_rows_are_told_as_they_come(self):
        rows = []
        run = judder.Model.from_text(BALL).run(samples=11, keep_rows=False, on_row=rows.append)
        self.assertEqual(len(run.rows), 1)
        self.assertEqual(np.array(rows).shape[1], 3)
        self.assertEqual(rows[-1].tobytes(), run.rows[0].tobytes())

    def test_an_exception_of_an_observer_passes_through(self):
        calls = []

        def fail(event):
            calls.append(event.kind)
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            judder.Model.from_text(BALL).run(on_event=fail)
        self.assertEqual(len(calls), 1)

    def test_a_run_may_be_made_inside_an_observer(self):
        model = judder.Model.from_text(BALL)
        inner = []
        model.run(until=0.5, on_event=lambda event: inner.append(model.run(until=0.1).last("h")))
        self.assertAlmostEqual(inner[0], 1 - 9.81 * 0.01 / 2)


class Steppers(unittest.TestCase):
    def test_a_stepper_goes_where_a_run_goes(self):
        model = judder.Model.from_text(BALL)
        stepper = model.stepper(e=0.7)
        times = []
        while stepper.advance_to(stepper.time + 0.1):
            times += list(stepper.events["time"][stepper.events["kind"] == "impact"])
        times += list(stepper.events["time"][stepper.events["kind"] == "impact"])
        np.testing.assert_allclose(times, model.run(e=0.7).times("impact"), atol=1e-9)
        self.assertTrue(stepper.over)
        self.assertEqual(stepper.status.reason, "done")
        self.assertAlmostEqual(stepper["h"], model.run(e=0.7).last("h"))

    def test_the_model_of_a_stepper_stays(self):
        stepper = judder.Model.from_text(BALL).stepper()
        gc.collect()
        stepper.advance_to(0.2)
        self.assertAlmostEqual(stepper["h"], 1 - 9.81 * 0.04 / 2)


if __name__ == "__main__":
    unittest.main()
