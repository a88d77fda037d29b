#!/usr/bin/env python3
"""The figures of the pages are those that the program draws, and the site can be built: figures.py SOURCE PROGRAM

scripts/drawings draws them into a folder, and each must have the bytes of docs/figures. Where Sphinx with its parser and theme is there, the manual is built with every
warning an error; without it only its tree is put together, which checks its links.
"""
import filecmp
import os
import pathlib
import subprocess
import sys
import tempfile

source, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
failures, count = [], 0
with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    done = subprocess.run([str(source / "scripts/drawings"), str(folder / "figures")], env={**os.environ, "JUDDER": program}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        failures.append(done.stderr)
    for kind in ("laws", "rules"):
        for kept in sorted((source / "docs/figures" / kind).glob("*.svg")):
            count += 1
            drawn = folder / "figures" / kind / kept.name
            if not drawn.exists() or not filecmp.cmp(kept, drawn, shallow=False):
                failures.append(f"docs/figures/{kind}/{kept.name} is not what the program draws: scripts/drawings")
    tree, site = folder / "source", folder / "html"
    done = subprocess.run([sys.executable, str(source / "docs/manual/stage.py"), str(source), program, str(tree)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        failures.append(done.stdout + done.stderr)
    parts = "import sphinx, myst_parser, furo"
    if subprocess.run(["/usr/bin/python3", "-c", parts], capture_output=True, check=False).returncode == 0:
        done = subprocess.run(["/usr/bin/python3", "/usr/bin/sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "-c", str(source / "docs/manual"), str(tree), str(site)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            failures.append(done.stdout + done.stderr)
        done = subprocess.run([sys.executable, str(source / "docs/manual/offline.py"), str(site)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            failures.append(done.stdout)
        index = site / "searchindex.js"
        words = index.read_text(encoding="utf-8") if index.exists() else ""
        for word in ("backlash", "restitut", "gears", "step-too-small"):  # as the search writes them: their stems, and titles
            if word not in words:
                failures.append(f"the search of the site does not know '{word}'")
        for page in tree.rglob("*.md"):
            if not (site / page.relative_to(tree)).with_suffix(".html").exists():
                failures.append(f"there is no page of {page.relative_to(tree)}")

print(f"{count} figures, {len(failures)} failures")
print("\n".join(failures))
sys.exit(1 if failures or count < 12 else 0)
