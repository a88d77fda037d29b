"""Threads: the interpreter goes on while a run is made, Ctrl-C ends it, and many runs at once have the bits of one after the other."""
import concurrent.futures
import hashlib
import os
import pathlib
import signal
import tempfile
import threading
import time
import unittest

import judder
from support import BALL, GALLERY, count

ENDLESS = """format = 1
[coordinates]
x = { start = 1 }
[energy]
kinetic = "x'^2/2"
potential = "x^2/2 + x^4/4"
[run]
until = 1e9
[output]
samples = 2
"""


def bits(run):
    return hashlib.sha256(run.rows.tobytes() + run.events["time"].tobytes() + run.events["normal_impulse"].tobytes()).hexdigest()


class Threads(unittest.TestCase):
    def test_many_runs_on_eight_threads_have_the_bits_of_one(self):
        model = judder.Model.from_text(BALL, open=["e", "g"])
        # Values beside the record of the form, and 0 and 1, which are compiled for their run.
        asked = [{"e": 0.3 + 0.6 * (i % 97) / 97, "g": 9.0 + i % 5, "h": 0.5 + (i % 11) / 10} for i in range(count(10_000))]
        asked[3]["e"], asked[5]["e"] = 0.0, 1.0

        def one(values):
            return bits(model.run(values, samples=21))

        alone = [one(values) for values in asked]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            together = list(pool.map(one, asked))
        self.assertEqual(alone, together)
        self.assertGreater(len(set(alone)), len(asked) // 40)

    def test_a_model_is_run_by_several_threads_through_every_engine(self):
        model = judder.load(GALLERY / "press" / "model.toml")
        engines = ["event", "exact", "auto", "moreau"] * 4

        def one(engine):
            return bits(model.run(engine=engine, until=0.2))

        alone = [one(engine) for engine in engines[:4]] * 4
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(alone, list(pool.map(one, engines)))

    def interrupted(self, call, begun):
        def interrupt():
            begun.wait()
            os.kill(os.getpid(), signal.SIGINT)

        other = threading.Thread(target=interrupt)
        other.start()
        with self.assertRaises(KeyboardInterrupt):
            call()
        other.join()

    def test_ctrl_c_ends_a_run(self):
        # Were the interpreter held by the run, the other thread would never come to send the signal.
        begun = threading.Event()
        model = judder.Model.from_text(ENDLESS)
        self.interrupted(lambda: model.run(on_row=lambda row: begun.set()), begun)
        self.assertTrue(model.run(until=1.0).ok)

    def test_ctrl_c_ends_a_sweep(self):
        model = judder.Model.from_text(ENDLESS)
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "t.npz"

            class Begun:
                """The records are there: members are being made."""

                @staticmethod
                def wait():
                    while not any(pathlib.Path(folder).iterdir()):
                        time.sleep(0.01)

            self.interrupted(lambda: model.sweep({"x": [1.0, 2.0]}, collect="max(x)", output=table), Begun)
            self.assertFalse(table.exists())

    def test_a_forked_process_makes_runs_of_its_own(self):
        # The thread that stands beside the main thread is not there in the child.
        model = judder.Model.from_text(BALL)
        expected = bits(model.run())
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # a run that waits for ever
            os._exit(0 if bits(model.run()) == expected else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_signal_handler_may_make_runs_while_one_is_made(self):
        begun = threading.Event()
        model = judder.Model.from_text(ENDLESS)
        ball = judder.Model.from_text(BALL)
        inner = []

        def handle(number, frame):
            inner.append(ball.run(until=0.1).last("h"))
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGINT, handle)
        try:
            self.interrupted(lambda: model.run(on_row=lambda row: begun.set()), begun)
        finally:
            signal.signal(signal.SIGINT, before)
        self.assertAlmostEqual(inner[0], 1 - 9.81 * 0.01 / 2)

    def test_a_run_holds_neither_the_interpreter_nor_other_runs(self):
        # Endless runs in two threads, that hear of nothing after their first row; only a thread that is not held can end them.
        model = judder.Model.from_text(ENDLESS)
        cancel = judder.Cancel()
        inside = [threading.Event() for _ in range(2)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(model.run, on_row=lambda row, each=each: each.set(), cancel=cancel) for each in inside]
            for each in inside:
                each.wait()
            self.assertFalse(any(run.done() for run in runs))
            cancel.set()
            self.assertEqual([run.result().status.reason for run in runs], ["interrupted"] * 2)
        self.assertTrue(cancel.is_set)


if __name__ == "__main__":
    unittest.main()
