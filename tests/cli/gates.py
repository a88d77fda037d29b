#!/usr/bin/env python3
"""A parameter that is off by one per cent is noticed: gates.py SOURCE PROGRAM

Each model is copied, one parameter of it changed, and `judder verify --gallery` must fail. The parameters are those that the `perturb` of a
reference file does not change and that were once found to pass unnoticed.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

GATES = {"dither-stability": ["s0", "s1", "s2", "vs"], "sdnd100": ["m"], "painleve-rod": ["g"], "pilger-mill": ["Hk3"]}

source, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
failures = []


def verify(folder):
    return subprocess.run([program, "verify", "--gallery", str(folder), "-q"], capture_output=True, text=True, check=False)


for model, names in GATES.items():
    for name in [None, *names]:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / model
            shutil.copytree(source / "gallery" / model, copy)
            for file in copy.glob("model*.toml") if name else []:
                text = file.read_text()
                found = re.search(rf"^{name}\s*=\s*([-0-9.e]+)", text, re.M)
                if not found:
                    failures.append(f"{model}: no number {name} in {file.name}")
                    continue
                file.write_text(text[:found.start(1)] + repr(1.01 * float(found[1])) + text[found.end(1):])
            done = verify(folder)
            if done.returncode != (1 if name else 0):
                failures.append(f"{model}, {name or 'as it is'}: exit {done.returncode}: {done.stdout[-400:]}{done.stderr}")
print(f"{len(failures)} failures")
print("\n".join(failures))
sys.exit(1 if failures else 0)
