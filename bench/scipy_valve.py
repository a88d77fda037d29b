"""The relief valve of `valve_bench` as its peer computes it: SciPy, DOP853 with two event functions.

scipy_valve.py SYSTEMS   prints the processor seconds per system for a sample of them, evenly spread over the flows, and the twentieth opening of the last
"""

import sys
import time

from scipy.integrate import solve_ivp

SYSTEMS, RETURNS, LEAST, MOST = 30720, 64, 0.2, 10.0
DAMPING, STIFF, PRELOAD, RESTITUTION, SHUT = 1.25, 20.0, 10.0, 0.8, 1e-7


def seat(_t, y):
    return y[0]


def top(_t, y):
    return y[1]


seat.terminal, seat.direction, top.direction = True, -1, -1


def run(flow):
    def motion(_t, y):
        return (y[1], y[2] - PRELOAD - y[0] - DAMPING * y[1], STIFF * (flow - y[0] * max(y[2], 0.0) ** 0.5))

    tops, t, y = [], 0.0, [1.0, 0.0, 11.0]
    while len(tops) < RETURNS:
        part = solve_ivp(motion, (t, t + 50), y, method="DOP853", events=(seat, top), rtol=1e-9, atol=1e-10)
        tops += [state[0] for state in part.y_events[1] if state[0] > 0]
        t, y = part.t[-1], list(part.y[:, -1])
        if part.status == 1:
            y = [0.0, -RESTITUTION * y[1], y[2]]
            if y[1] < SHUT and y[2] < PRELOAD:
                t += (PRELOAD - y[2]) / (STIFF * flow)
                y = [0.0, 0.0, PRELOAD]
    return tops[:RETURNS]


def main():
    count = max(2, int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    begin = time.process_time()
    for k in range(count):
        tops = run(LEAST + (MOST - LEAST) * k / (count - 1))
    print(f"{(time.process_time() - begin) / count:.9g} {tops[19]:.12g}")


main()
