"""The bouncing ball of `run_bench` as its peer computes it: SciPy, DOP853 with an event function, the same samples kept in memory.

scipy_ball.py RUNS     prints the median of the processor seconds of RUNS runs, the number of impacts and the largest error of an
                       impact time
"""

import statistics
import sys
import time

import numpy
from scipy.integrate import solve_ivp

GRAVITY, RESTITUTION, HEIGHT, UNTIL, EVERY = 9.81, 0.9, 1.0, 8.5, 0.005


def motion(_t, y):
    return (y[1], -GRAVITY)


def gap(_t, y):
    return y[0]


gap.terminal = True
gap.direction = -1


def run():
    samples = numpy.arange(0, round(UNTIL / EVERY) + 1) * EVERY
    rows, impacts = [], []
    t, y = 0.0, [HEIGHT, 0.0]
    while t < UNTIL:
        wanted = samples[(samples >= t) & (samples <= UNTIL)]
        flight = solve_ivp(motion, (t, UNTIL), y, method="DOP853", events=gap, t_eval=wanted, rtol=1e-9, atol=1e-12)
        rows.append(numpy.vstack((flight.t, flight.y)))
        if flight.status != 1:
            break
        t = flight.t_events[0][0]
        impacts.append(t)
        y = [0.0, -RESTITUTION * flight.y_events[0][0][1]]
    return rows, impacts


def main():
    seconds = []
    impacts = []
    for _ in range(max(1, int(sys.argv[1]) if len(sys.argv) > 1 else 1)):
        begin = time.process_time()
        _, impacts = run()
        seconds.append(time.process_time() - begin)
    exact = (2 * HEIGHT / GRAVITY) ** 0.5
    flight, error = 2 * exact, 0.0
    for t in impacts:
        error = max(error, abs(t - exact))
        flight *= RESTITUTION
        exact += flight
    print(f"{statistics.median(seconds):.9g} {len(impacts)} {error:.2e}")


main()
