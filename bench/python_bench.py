"""What Python adds to a run and to a sweep: python_bench.py FRONT_BENCH PROGRAM GALLERY

Processor time of all threads, median of rounds: one short run of the bouncing ball by C++ (front_bench), by Python in a thread of its own and in the main
thread, where the run is made beside the one that hears of Ctrl-C; then a sweep by the verb and by Python, both as whole programs' work on one thread.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import judder
import numpy as np

RUNS, ROUNDS = 400, 9


def median_of_rounds(model):
    out = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for i in range(RUNS):
            model.run({"e": 0.5 + 1e-6 * i}, until=0.5, samples=2)
        out.append((time.process_time() - begin) / RUNS)
    return statistics.median(out)


def in_a_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def line(what, ours, peer, goal, met):
    print(f"{what:44} {ours:>12} {peer:>12}   goal {goal}, {'met' if met else 'not met'}")


def overhead(front_bench, ball):
    model = judder.load(ball, open=["e"])
    said = subprocess.run([front_bench, ball, str(RUNS)], check=True, capture_output=True, text=True).stdout
    native = statistics.median(float(each) for each in said.split())
    for words, python in (("a run in a thread of Python", in_a_thread(lambda: median_of_rounds(model))), ("a run in the main thread", median_of_rounds(model))):
        more = python - native
        line(f"{words}, above C++", f"{more * 1e6:.1f} us", f"{native * 1e6:.1f} us", "50 us", more < 50e-6)


def sweep(program, ball):
    values = np.linspace(0.5, 0.9, 2000)
    model = judder.load(ball)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        for round in range(5):
            begin = resource.getrusage(resource.RUSAGE_CHILDREN)
            table = os.path.join(folder, f"{round}.npz")
            subprocess.run([program, "sweep", ball, f"e=0.5:0.9:{len(values)}", "--collect", "count(impact), max(h)", "-j", "1", "-o", table], check=True, capture_output=True)
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            theirs.append(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)
            begin = time.process_time()
            model.sweep(e=values, collect="count(impact), max(h)", threads=1)
            ours.append(time.process_time() - begin)
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    line("a sweep of 2000 runs, Python and the verb", f"{statistics.median(ours):.3f} s", f"{statistics.median(theirs):.3f} s", "1.05", ratio < 1.05)
    print(f"{'':44} {ratio:12.3f}")


def main(front_bench, program, gallery):
    ball = os.path.join(gallery, "bouncing-ball", "model.toml")
    overhead(front_bench, ball)
    sweep(program, ball)


if __name__ == "__main__":
    main(*sys.argv[1:4])
