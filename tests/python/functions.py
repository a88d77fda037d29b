"""Functions of Python in the formulas of a model: against the same formulas in the language, and what becomes of mistakes in them."""
import concurrent.futures
import gc
import math
import os
import signal
import threading
import unittest
import warnings
import weakref

import judder
import numpy as np
from support import count

ROAD = """format = 1
[coordinates]
x = { velocity = 0.3 }
y = 0.5
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "ground"
gap = "y - %"
slip = "x'"
friction = 0.2
impact = 0.5
[run]
until = 0.7
[output]
event_rows = false
samples = 71
"""
FORMULA = "0.05*sin(3*x + 2*t)"
CALL = "ground(x, t)"


def ground(x, t):
    return 0.05 * math.sin(3 * x + 2 * t)


def slope_x(x, t):
    return 0.15 * math.cos(3 * x + 2 * t)


def slope_t(x, t):
    return 0.10 * math.cos(3 * x + 2 * t)


def bend(i, j):
    factor = 0.05 * (3, 2)[i] * (3, 2)[j]
    return lambda x, t: -factor * math.sin(3 * x + 2 * t)


def together(order):
    """Value and derivatives up to this order, as arrays."""

    def jet(x, t):
        s, c = math.sin(3 * x + 2 * t), math.cos(3 * x + 2 * t)
        k = np.array([3.0, 2.0])
        parts = [0.05 * s, 0.05 * c * k, -0.05 * s * np.outer(k, k), -0.05 * c * np.einsum("i,j,k->ijk", k, k, k)]
        return tuple(parts[: order + 1])

    return jet


def road(**functions):
    return judder.Model.from_text(ROAD.replace("%", CALL), functions=functions)


def belt(f, **more):
    """A mass on a belt with the speed f(t)."""
    return judder.Model(
        functions={"f": f},
        coordinates={"x": 0.4},
        energy={"kinetic": "x'^2/2", "potential": "x^2/2"},
        friction=[{"name": "belt", "slip": "x' - f(t)", "normal": 1, "law": 0.4}],
        run={"until": 3},
        **more,
    )


def refuse_after(time, what):
    def f(t):
        if t > time:
            raise what
        return 0.5

    return f


class Functions(unittest.TestCase):
    def setUp(self):
        self.expected = judder.Model.from_text(ROAD.replace("%", FORMULA)).run(tolerance=1e-11)

    def near(self, run, most):
        self.assertTrue(run.ok, run.status)
        self.assertEqual(list(run.events["kind"]), list(self.expected.events["kind"]))
        self.assertGreater(len(run.events), 1)
        self.assertLess(np.abs(run.events["time"] - self.expected.events["time"]).max(), most)
        for column in ("x", "y", "y'"):
            self.assertLess(np.abs(run[column] - self.expected[column]).max(), most, column)

    def test_a_plain_function_makes_the_motion_of_the_formula(self):
        self.near(road(ground=ground).run(tolerance=1e-11), 1e-8)

    def test_derivatives_may_be_functions_or_come_with_the_value(self):
        given = [
            judder.function(ground, [slope_x, slope_t]),
            judder.function(ground, [slope_x, slope_t], second=[[bend(0, 0), bend(0, 1)], [bend(1, 0), bend(1, 1)]]),
            *(judder.function(together(order), order) for order in (1, 2, 3)),
            judder.function(lambda x, t: [np.float32(0.0) + ground(x, t), [slope_x(x, t), slope_t(x, t)]], derivatives=1),
        ]
        for each in given:
            self.near(road(ground=each).run(tolerance=1e-11), 1e-8)
        self.assertEqual([each.order for each in given], [1, 2, 1, 2, 3, 1])

    def test_a_wrong_derivative_is_not_what_the_motion_is_made_with(self):
        # The test above could not fail if derivatives were not read.
        wrong = road(ground=judder.function(ground, [slope_x, lambda x, t: 0.0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = wrong.run(tolerance=1e-11)
        other = len(run.events) != len(self.expected.events) or np.abs(run.events["time"] - self.expected.events["time"]).max() > 1e-4
        self.assertTrue(other)

    def test_fixed_steps_have_the_motion_of_the_formula_to_rounding(self):
        expected = judder.Model.from_text(ROAD.replace("%", FORMULA)).run(engine="moreau", step=1e-3)
        run = road(ground=judder.function(together(2), 2)).run(engine="moreau", step=1e-3)
        np.testing.assert_allclose(run["y"], expected["y"], atol=1e-11)

    def test_numpy_functions_are_functions(self):
        model = belt(np.cos)
        self.assertLess(abs(model.run().last("x") - belt_of_language("cos(t)").run().last("x")), 1e-8)

    def test_an_exception_ends_the_run_and_is_named(self):
        model = belt(refuse_after(1.0, ValueError("no belt\nhere")))
        for _ in range(2):
            with self.assertWarns(judder.RunWarning):
                run = model.run()
            self.assertEqual(run.status.reason, "call-failed")
            self.assertEqual(run.status.where, "function 'f'")
            self.assertRegex(run.status.message, r"^f\(1\.?\d*\) has failed: ValueError: no belt$")
            # At the end of the last step: the one that failed is not a part of the motion.
            self.assertLessEqual(run.status.time, 1.0)
            self.assertGreater(run.status.time, 0)
            with self.assertRaisesRegex(judder.RunError, "ValueError: no belt"):
                run.check()
            self.assertTrue(model.run(until=0.5).ok)

    def test_what_is_no_number_is_named(self):
        for wrong, words in ((lambda t: None, "TypeError"), (lambda t: "1", "TypeError"), (lambda t: math.nan, "is nan"), (lambda t: 1 / 0, "ZeroDivisionError")):
            with self.assertRaisesRegex(judder.ModelError, words):
                belt(wrong)
        with self.assertRaisesRegex(judder.ModelError, "instead of 2"):
            road(ground=judder.function(lambda x, t: (0.0, [1.0]), 1))
        with self.assertRaisesRegex(judder.ModelError, "instead of its value and derivatives"):
            road(ground=judder.function(lambda x, t: (0.0,), 1))
        with self.assertRaisesRegex(judder.ModelError, "TypeError"):
            road(ground=judder.function(ground, 1))

    def test_a_kinetic_energy_takes_inertias_and_no_functions_of_velocities(self):
        def model(kinetic):
            functions = {"inertia": lambda x: 1 + x * x, "vigour": lambda v: v * v / 2}
            return judder.Model(functions=functions, coordinates={"x": {"start": 1}}, energy={"kinetic": kinetic, "potential": "x^2"}, run={"until": 2})

        # x'² (1 + x²)/2 + x² = 1: the speed at the lowest point is √2.
        run = model("inertia(x)*x'^2/2").run()
        self.assertAlmostEqual(float(np.abs(run["x'"]).max()), math.sqrt(2), places=4)
        with self.assertRaisesRegex(judder.ModelError, "degree cannot be seen"):
            model("vigour(x')")

    def test_what_arithmetic_raises_far_away_ends_no_run(self):
        # A trial step sees speeds of 1e27, where math.exp raises.
        def motion(law, **functions):
            return judder.Model(
                functions=functions,
                coordinates={"x": 0},
                energy={"kinetic": "x'^2/2", "potential": "4*x^2/2"},
                friction=[{"name": "belt", "slip": "x' - 0.5", "normal": 10, "law": law}],
                run={"until": 10},
            ).run()

        expected = motion("0.3 + 0.2*exp(-4*speed)")
        run = motion("stribeck(speed)", stribeck=lambda speed: 0.3 + 0.2 * math.exp(-4 * speed))
        self.assertTrue(run.ok, run.status)
        self.assertEqual(list(run.events["kind"]), list(expected.events["kind"]))
        np.testing.assert_allclose(run.events["time"], expected.events["time"], atol=1e-6)

    def test_a_question_says_what_was_raised(self):
        def spring(x):
            if abs(x) > 0.45:
                raise ValueError("outside of the map")
            return x * x

        model = judder.Model(
            functions={"spring": spring}, coordinates={"x": 0.4}, energy={"kinetic": "x'^2/2", "potential": "2*spring(x)"},
            friction=[{"name": "floor", "slip": "x'", "normal": 1, "law": 0.4}], run={"until": 3},
        )
        with self.assertRaisesRegex(judder.Error, "spring.* has failed: ValueError: outside of the map"):
            model.equilibria()

    def test_mistakes_of_the_call_are_told_at_once(self):
        with self.assertRaisesRegex(TypeError, "how many arguments"):
            judder.function(lambda *u: 0.0)
        with self.assertRaisesRegex(TypeError, "2 arguments need 2 derivatives, not 1"):
            judder.function(ground, [slope_x])
        with self.assertRaisesRegex(TypeError, "2 rows of 2"):
            judder.function(ground, [slope_x, slope_t], second=[[slope_x]])
        with self.assertRaisesRegex(TypeError, "must be a function"):
            road(ground=3)
        with self.assertRaisesRegex(TypeError, "1 to 8"):
            judder.function(lambda *u: 0.0, arguments=9)
        with self.assertRaisesRegex(judder.ModelError, "ground needs 3 arguments, not 2"):
            road(ground=lambda a, b, c: 0.0)
        with self.assertRaisesRegex(judder.ModelError, "function of the language"):
            judder.Model.from_text(ROAD.replace("%", "0"), functions={"sin": math.sin})
        with self.assertRaisesRegex(judder.ModelError, "at most 495"):
            judder.Model.from_text(ROAD.replace("%", CALL), functions={"ground": judder.function(ground, 60)})
        with self.assertRaisesRegex(judder.ModelError, "unknown function 'ground'"):
            judder.Model.from_text(ROAD.replace("%", CALL))

    def test_many_threads_run_it_with_the_bits_of_one(self):
        model = road(ground=ground)
        alone = model.run().rows.tobytes()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            runs = list(pool.map(lambda _: model.run().rows.tobytes(), range(count(80))))
        self.assertEqual(set(runs), {alone})

    def test_questions_call_it_too(self):
        model = road(ground=judder.function(ground, [slope_x, slope_t]))
        table = model.sweep({"y": [0.4, 0.5]}, collect="count(impact)", until=0.6)
        expected = judder.Model.from_text(ROAD.replace("%", FORMULA)).sweep({"y": [0.4, 0.5]}, collect="count(impact)", until=0.6)
        np.testing.assert_array_equal(table["count(impact)"], expected["count(impact)"])
        self.assertIn("ground(x, t)", model.explain())
        self.assertLess(abs(model.with_({"y": 0.4}).run(until=0.2).last("y") - model.run({"y": 0.4}, until=0.2).last("y")), 1e-12)
        stepper = model.stepper(until=0.3)
        while stepper.advance_to(stepper.time + 0.05):
            pass
        self.assertAlmostEqual(stepper["y"], model.run(until=0.3).last("y"), places=8)

    def test_a_sweep_names_what_fails(self):
        table = belt(refuse_after(1.0, ValueError("no belt"))).sweep({"x": [0.3, 0.4]}, collect="max(x)")
        self.assertIn("call-failed", str(table))

    def test_a_function_may_make_runs_of_its_own(self):
        ball = judder.Model(coordinates={"h": 1}, energy={"kinetic": "h'^2/2", "potential": "h"}, run={"until": 0.1})
        height = ball.run().last("h")
        expected = belt(lambda t: height).run(until=0.5).last("x")
        self.assertEqual(belt(lambda t: ball.run().last("h")).run(until=0.5).last("x"), expected)

    def test_models_keep_it_and_let_it_go(self):
        class Speed:
            def __call__(self, t):
                return 0.3

        speed = Speed()
        gone = weakref.ref(speed)
        model = belt(judder.function(speed, arguments=1))
        other = model.with_({"x": 0.2})
        del speed, model
        gc.collect()
        self.assertTrue(other.run(until=0.5).ok)
        self.assertIsNotNone(gone())
        del other
        gc.collect()
        self.assertIsNone(gone())

    def test_ctrl_c_ends_a_run_that_calls_python(self):
        begun = threading.Event()

        def f(t):
            begun.set()
            return 0.5 * math.cos(t)

        model = belt(judder.function(f))
        begun.clear()

        def interrupt():
            begun.wait()
            os.kill(os.getpid(), signal.SIGINT)

        other = threading.Thread(target=interrupt)
        other.start()
        with self.assertRaises(KeyboardInterrupt):
            model.run(until=1e7)
        other.join()
        self.assertTrue(model.run(until=1.0).ok)

    def test_a_keyboard_interrupt_in_the_function_is_one_of_the_program(self):
        model = belt(refuse_after(1.0, KeyboardInterrupt()))
        with self.assertRaises(KeyboardInterrupt), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(100):
                model.run()


def belt_of_language(speed):
    return judder.Model(
        coordinates={"x": 0.4},
        energy={"kinetic": "x'^2/2", "potential": "x^2/2"},
        friction=[{"name": "belt", "slip": f"x' - {speed}", "normal": 1, "law": 0.4}],
        run={"until": 3},
    )


if __name__ == "__main__":
    unittest.main()
