"""Runs the commands of a page and compares what they print.

A block ```toml after a line <!-- file: NAME --> is written to NAME. In a block ```console each line "$ judder …" is run, in a folder
where gallery/ is the repository's; its output, both streams, must be the lines that follow. A line "…" stands for any lines.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def matches(expected, given):
    """True if `given` is `expected` with each "…" replaced by any lines."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line) + r"\n" for line in expected)
    return re.fullmatch(pattern, given) is not None


def main(page, root, program):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    failures = commands = 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(root / "gallery", pathlib.Path(folder) / "gallery")
        os.symlink(program, pathlib.Path(folder) / "judder")
        environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"]}
        for name, kind, body in re.findall(r"(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)```\n", text, re.S):
            if kind == "toml" and name:
                (pathlib.Path(folder) / name).write_text(body, encoding="utf-8")
            if kind != "console":
                continue
            for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
                command, *expected = part.rstrip("\n").split("\n")
                if not command.startswith("judder"):
                    continue
                commands += 1
                result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, check=False,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                while expected and not expected[-1]:
                    expected.pop()
                if not matches(expected, result.stdout.rstrip("\n") + "\n" if result.stdout.strip() else ""):
                    print(f"$ {command}\n--- the page says\n" + "\n".join(expected) + f"\n--- the program says\n{result.stdout}")
                    failures += 1
    print(f"{page}: {commands} commands, {failures} failures")
    return 0 if commands and not failures else 1


sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]))
