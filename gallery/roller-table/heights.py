#!/usr/bin/env python3
"""Where does the load change most? Runs the roller table for a series of guide heights and prints the loads of each as a Markdown table.

    heights.py [--judder PROGRAM] [--variant NAME]… [--to 1] [-o FOLDER] [HEIGHT…]

Without heights: from 0.100 to 0.195 m in steps of 5 mm. Each run goes to FOLDER/h-HEIGHT (default: runs/roller-table).
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

BAR = 30  # characters


def run(program, variants, height, until, folder):
    model = pathlib.Path(__file__).resolve().parent / "model.toml"
    command = [program, "run", str(model), "--set", f"h={height}", "--until", str(until), "-o", str(folder)]
    for variant in variants:
        command += ["--variant", variant]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def loads(folder):
    summary = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    out = {"force": max((i["peak"] for i in summary["intervals"] if i["contact"] == "roller"), default=0.0)}
    with open(folder / "events.csv", newline="", encoding="utf-8") as file:
        events = list(csv.DictReader(file))
    blows = [float(e["normal_impulse"]) for e in events if e["kind"] == "impact" and e["where"] == "roller"]
    out["impacts"] = len(blows)
    out["blow"] = max(blows, default=0.0)
    out["limiter"] = sum(e["where"] == "force.limiter.value" and e["detail"].endswith("> 0") for e in events)
    with open(folder / "trajectory.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    out["slowest"] = min(float(r["phi3'"]) for r in rows)
    out["lowest"] = min(float(r["y2"]) for r in rows)
    out["push"] = max(abs(float(r["x2"])) for r in rows)
    out["stall"] = summary["model"]["parameters"]["wk"]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judder", default="judder", help="the program")
    parser.add_argument("--variant", action="append", default=[], help="of the model; may be repeated")
    parser.add_argument("--to", type=float, default=1.0, help="end of each run, s")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("runs/roller-table"))
    parser.add_argument("heights", nargs="*", type=float)
    arguments = parser.parse_args()
    heights = arguments.heights or [round(0.1 + 0.005 * i, 3) for i in range(20)]

    results = []
    for height in heights:
        folder = arguments.output / f"h-{height:g}"
        run(arguments.judder, arguments.variant, height, arguments.to, folder)
        results.append((height, loads(folder)))
    largest = max(load["force"] for _, load in results)

    print("| h, m | impacts | largest blow, N s | limiter acts | lowest y2, mm | largest x2, mm | slowest motor, 1/s | largest force, kN |  |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    for height, load in results:
        mark = " (stalls)" if load["slowest"] < load["stall"] else ""
        bar = "#" * max(1, round(BAR * load["force"] / largest))
        print(f"| {height:g} | {load['impacts']} | {load['blow']:.0f} | {load['limiter']} | {1e3 * load['lowest']:.2f} | {1e3 * load['push']:.2f} | "
              f"{load['slowest']:.2f}{mark} | {1e-3 * load['force']:.0f} | {bar} |")
    steps = list(zip(results, results[1:]))
    if steps:
        (low, below), (high, above) = max(steps, key=lambda step: max(step[0][1]["force"], step[1][1]["force"]) /
                                          min(step[0][1]["force"], step[1][1]["force"]))
        word = "falls" if above["force"] < below["force"] else "rises"
        print(f"\nThe load {word} most between h = {low:g} and {high:g} m: from {1e-3 * below['force']:.0f} to {1e-3 * above['force']:.0f} kN.")


if __name__ == "__main__":
    sys.exit(main())
