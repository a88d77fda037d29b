#!/usr/bin/env python3
"""Puts additions over the sources of the project: overlay.py SOURCE ADDITIONS TREE

Each folder in ADDITIONS is one addition: `files/` holds what is new, under its path in the project; `rows/` holds, under the path of a file that
exists and with `.rows` behind it, the lines that go into it. A line `behind: TEXT` or `before: TEXT` names the only line with that text, `insert: LINE` what goes there.

TREE gets the new files and the changed ones, nothing else. Printed are the sources to compile, one to a line: those that changed, and those that
the changed lists of CMake name beyond the old ones; then, behind a line `from`, every file that this depends on.
"""
import pathlib
import re
import sys


def changed(text, rows, name):
    lines = text.split("\n")
    at = None
    for row in rows.splitlines():
        word, value = row.split(": ", 1)
        if word in ("behind", "before"):
            found = [i for i, line in enumerate(lines) if value in line]
            if len(found) != 1:
                sys.exit(f"{name}: {len(found)} lines have the text '{value}'")
            at = found[0] + (word == "behind")
        else:
            lines.insert(at, value)
            at += 1
    return "\n".join(lines)


def sources_in(text):
    return set(re.findall(r"[\w/]+\.cpp", text))


def main():
    source, additions, tree = map(pathlib.Path, sys.argv[1:])
    made, inputs, to_compile = {}, [], set()
    for addition in sorted(p for p in additions.iterdir() if p.is_dir()):
        for path in sorted(p for p in addition.rglob("*") if p.is_file()):
            kind, place = path.relative_to(addition).parts[0], pathlib.Path(*path.relative_to(addition).parts[1:])
            inputs.append(path)
            if kind == "files":
                if (source / place).exists():
                    sys.exit(f"{path}: {place} exists already")
                made[place] = path.read_text()
                continue
            place = place.with_name(place.name.removesuffix(".rows"))
            inputs.append(source / place)
            before = made.get(place) or (source / place).read_text()
            made[place] = changed(before, path.read_text(), str(path))
            if place.name == "CMakeLists.txt":
                for name in sources_in(made[place]) - sources_in(before):
                    to_compile.add(str(place.parent / name))
            elif place.suffix == ".cpp":
                to_compile.add(str(place))
    for place, text in made.items():
        target = tree / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
    print("\n".join(sorted(to_compile) + ["from"] + sorted({str(path) for path in inputs})))


main()
