#!/usr/bin/env python3
"""Runs the scripts of the gallery and checks the claims of their pages: gallery_scripts.py SOURCE PROGRAM"""
import pathlib
import subprocess
import sys
import tempfile

failures = []


def check(truth, message):
    if not truth:
        failures.append(message)


def table(script, *arguments):
    """The rows of the Markdown table that a script prints, by the first cell."""
    text = subprocess.run([sys.executable, str(script), *arguments], check=True, capture_output=True, text=True).stdout
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return {row[0]: dict(zip(rows[0], row)) for row in rows[2:]}, text


def main(source, program):
    gallery = pathlib.Path(source) / "gallery"
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        mill, text = table(gallery / "pilger-mill" / "variants.py", "--judder", program, "-o", str(out / "mill"),
                           "ordinary", "equalised", "wide", "wide+loose")
        torque = {name: float(row["peak torque"]) for name, row in mill.items()}
        rod = {name: float(row["peak rod"]) for name, row in mill.items()}
        opposed = {name: float(row["rods opposed"].split()[0]) for name, row in mill.items()}
        # Zabuga 2017, 5.3: what the link and the cut shaft do to torque and rod forces.
        check(torque["equalised"] < 0.6 * torque["ordinary"], f"the link lowers the torque of the tight stand\n{text}")
        check(torque["equalised"] > 1.05 * torque["wide"], f"and raises that of the loose one\n{text}")
        check(torque["wide+loose"] > 1.1 * torque["wide"], f"cutting shaft 9 raises the torque\n{text}")
        check(rod["equalised"] < rod["wide"] < rod["ordinary"], f"rod forces fall\n{text}")
        check(opposed["equalised"] == 0 and 42 < opposed["wide"] < 43 and 76 < opposed["ordinary"] < 77, f"opposed rods\n{text}")
        check((out / "mill" / "figures" / "plot-1.svg").is_file(), "no figure of the mill")

        heights, text = table(gallery / "roller-table" / "heights.py", "--judder", program, "-o", str(out / "table"),
                              "0.133", "0.15", "0.155", "0.18")
        force = {float(h): float(row["largest force, kN"]) for h, row in heights.items()}
        check(force[0.15] > 7 * force[0.155], f"the load rises between 0.15 and 0.155 m\n{text}")
        check(abs(force[0.133] - 1391) < 2 and abs(force[0.18] - 142) < 1, f"forces at the heights of the thesis\n{text}")
        check("stalls" in heights["0.133"]["slowest motor, 1/s"], f"the motor at 0.133 m\n{text}")
        check("The load falls most between h = 0.15 and 0.155" in text, f"the script says where, and which way\n{text}")
        soft, text = table(gallery / "roller-table" / "heights.py", "--judder", program, "--variant", "soft", "-o", str(out / "soft"),
                           "0.15", "0.155", "0.16")
        force = [float(row["largest force, kN"]) for row in soft.values()]
        check(max(a / b for a, b in zip(force, force[1:])) < 1.5, f"without the limiter's jump there is no cliff\n{text}")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
