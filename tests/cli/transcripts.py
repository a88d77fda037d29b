"""Runs the commands of pages and compares what they print: transcripts.py SOURCE PROGRAM [PAGE …] (default: README.md and every page of docs/)

A block ```toml after a line <!-- file: NAME --> is written to NAME. In a block ```console each line "$ judder …" or "$ cat …" is run, in a folder
where gallery/ is the repository's; its output, both streams, must be the lines that follow. A line "…" stands for any lines. A command that fails must be shown to.
"""

import concurrent.futures
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


def check_page(page, root, program):
    """(commands, what was wrong)"""
    text = page.read_text(encoding="utf-8")
    problems, commands = [], 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(root / "gallery", pathlib.Path(folder) / "gallery")
        os.symlink(root / "docs", pathlib.Path(folder) / "docs")
        os.symlink(program, pathlib.Path(folder) / "judder")
        environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"]}
        for name, kind, body in re.findall(r"(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)```\n", text, re.S):
            if kind == "toml" and name:
                (pathlib.Path(folder) / name).write_text(body, encoding="utf-8")
            if kind != "console":
                continue
            for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
                command, *expected = part.rstrip("\n").split("\n")
                if not command.startswith(("judder", "cat ")) or re.search(r"\b[A-Z]{4,}\b|\[options\]", command):
                    continue
                commands += 1
                result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, check=False,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                while expected and not expected[-1]:
                    expected.pop()
                shown = [line for line in expected if "error" in line or line.startswith(("judder:", "  help:"))]
                if result.returncode in (2, 3, 5, 70) and not shown:
                    problems.append(f"{page.relative_to(root)}: $ {command}\n--- fails, and the page does not say so\n{result.stdout}")
                elif not matches(expected, result.stdout.rstrip("\n") + "\n" if result.stdout.strip() else ""):
                    problems.append(f"{page.relative_to(root)}: $ {command}\n--- the page says\n" + "\n".join(expected) + f"\n--- the program says\n{result.stdout}")
    return commands, problems


def main(root, program, names):
    pages = [pathlib.Path(name).resolve() for name in names] or [root / "README.md", *sorted(root.glob("docs/**/*.md"))]
    total, problems = 0, []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for commands, found in pool.map(lambda page: check_page(page, root, program), pages):
            total += commands
            problems += found
    print("\n".join(problems))
    print(f"{len(pages)} pages, {total} commands, {len(problems)} failures")
    return 0 if total and not problems else 1


sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve()), sys.argv[3:]))
