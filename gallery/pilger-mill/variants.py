#!/usr/bin/env python3
"""Compares the variants of the mill: loads over one period of the steady motion, as a Markdown table, and one figure of all.

    variants.py [--judder PROGRAM] [--from 1.4] [-o FOLDER] [VARIANT[+VARIANT…]…]

Each run goes to FOLDER/NAME (default: runs/pilger-mill); `judder plot` then draws the first four runs in one picture each for torque and rods.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

FIGURE = 4  # variants in one figure
STANDARD = ["ordinary", "loose", "equalised", "both", "wide", "wide+loose", "ordinary+closureB", "equalised+closureB"]


def run(program, model, name, folder):
    command = [program, "run", str(model), "-o", str(folder)]
    for variant in name.split("+"):
        command += ["--variant", variant]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def loads(folder, begin):
    """Extremes of the columns after `begin`, and the share of time in which the rods work against each other."""
    least, most = {}, {}
    against = total = 0.0
    last = None
    with open(folder / "trajectory.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            t = float(row["t"])
            if t < begin:
                continue
            for name in ("MV", "rod1", "rod2"):
                value = float(row[name])
                least[name] = min(least.get(name, value), value)
                most[name] = max(most.get(name, value), value)
            opposite = float(row["opposite"])
            if last is not None:
                against += 0.5 * (opposite + last[1]) * (t - last[0])
                total += t - last[0]
            last = (t, opposite)
    return least, most, against / total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judder", default="judder", help="the program")
    parser.add_argument("--from", dest="begin", type=float, default=1.4, help="start of the period that is compared, s")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("runs/pilger-mill"))
    parser.add_argument("variants", nargs="*", default=STANDARD)
    arguments = parser.parse_args()
    model = pathlib.Path(__file__).resolve().parent / "model.toml"

    print("| variant | torque MV, N m | rod 3, N | rod 4, N | peak torque | peak rod | rods opposed | steps |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    folders = []
    for name in arguments.variants:
        folder = arguments.output / name
        run(arguments.judder, model, name, folder)
        folders.append(str(folder))
        least, most, against = loads(folder, arguments.begin)
        peak = {c: max(-least[c], most[c]) for c in least}
        steps = json.loads((folder / "run.json").read_text(encoding="utf-8"))["counts"]["steps"]
        ranges = " | ".join(f"{least[c]:.0f} … {most[c]:.0f}" for c in ("MV", "rod1", "rod2"))
        print(f"| {name} | {ranges} | {peak['MV']:.0f} | {max(peak['rod1'], peak['rod2']):.0f} | {100 * against:.1f} % | {steps:.0f} |",
              flush=True)
    subprocess.run([arguments.judder, "plot", *folders[:FIGURE], "-o", str(arguments.output / "figures")], check=True, stdout=subprocess.DEVNULL)
    print(f"\nfigures: {arguments.output / 'figures'}")


if __name__ == "__main__":
    sys.exit(main())
