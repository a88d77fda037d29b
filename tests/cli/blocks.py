#!/usr/bin/env python3
"""Code blocks of the pages are code: blocks.py SOURCE PROGRAM [COMPILER]

```toml: a whole model (it begins with "format") is checked by the program; what is a part of one is TOML. ```python is run, in a folder where the runs of
the page are. ```cpp is compiled against the headers, each block as the body of a function in which the names of the page's earlier blocks are known; blocks that
begin a program (#include) stand before it. ```json is JSON, with an ellipsis allowed. A block that is only to be looked at is ```text.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

source, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
compiler = sys.argv[3] if len(sys.argv) > 3 else ""
failures, counts = [], {}


def fail(page, block, why):
    failures.append(f"{page.relative_to(source)}: {why}\n{block.strip()[:300]}")


def check_toml(page, block):
    try:
        tomllib.loads(block)
    except tomllib.TOMLDecodeError as error:
        # Parts of a model may repeat a key to show two ways to write it.
        for line in block.splitlines():
            try:
                tomllib.loads(line)
            except tomllib.TOMLDecodeError:
                fail(page, block, f"no TOML: {error}")
                return
        return
    if not block.lstrip().startswith("format"):
        return
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.toml"
        model.write_text(block, encoding="utf-8")
        done = subprocess.run([program, "check", str(model)], capture_output=True, text=True, check=False)
        wrong = "hight" in block or "error" in block  # the page shows what check says of it
        if done.returncode != (3 if wrong else 0):
            fail(page, block, done.stderr)


def check_cpp(page, blocks):
    """All blocks of a page in one program, which is compiled and not run."""
    if not compiler:
        return
    heads, bodies = ["#include <cstdio>", "#include <algorithm>", "#include <string>", "#include \"judder/judder.hpp\""], []
    given = re.findall(r"<!-- cpp: (.*?) -->", page.read_text(encoding="utf-8"), re.S)
    for block in blocks:
        heads += re.findall(r"^#include.*$", block, re.M)
        bodies.append(re.sub(r"^#include.*$", "", block, flags=re.M))
    extra = [line for text in given for line in text.splitlines()]
    heads += [line for line in extra if line.startswith("#include")]
    before = "\n".join(line for line in extra if not line.startswith("#include"))
    text = "\n".join(dict.fromkeys(heads)) + "\n" + before + "\nint main() {\n"
    text += "".join("{\n" + body for body in bodies) + "}" * len(bodies) + "\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "page.cpp"
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", str(source / "include"), str(file)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(page, done.stderr, "its C++ blocks do not compile together")


def check_python(page, block, folder):
    done = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(page, block, done.stderr[-300:])


for page in sorted([source / "README.md", *source.glob("docs/**/*.md")]):
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^ *```(\w+|\{\w+\})\n(.*?)^ *```", text, re.S | re.M)
    package = any(kind == "python" and re.search(r"^import judder$", block, re.M) for kind, block in found)
    for kind, block in found:
        counts[kind] = counts.get(kind, 0) + 1
        if kind == "toml":
            check_toml(page, block)
        elif kind == "python" and not package:  # pages of the Python package are executed by tests/python/words.py
            with tempfile.TemporaryDirectory() as folder:
                os.symlink(source / "gallery", pathlib.Path(folder) / "gallery")
                for model in set(re.findall(r"runs/([\w-]+)", block)):
                    subprocess.run([program, "run", f"gallery/{model}/model.toml", "-o", f"runs/{model}"], cwd=folder, capture_output=True, check=False)
                check_python(page, block, folder)
        elif kind not in ("python", "sh", "console", "cpp", "text", "json", "cmake", "{toctree}"):
            fail(page, block, f"blocks of the kind {kind} are executed by no test")
    cpp = [block for kind, block in found if kind == "cpp"]
    if cpp:
        check_cpp(page, cpp)

print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) + f", {len(failures)} failures")
print("\n".join(failures))
sys.exit(1 if failures or counts.get("toml", 0) < 30 else 0)
