#!/usr/bin/env python3
"""Executes the commands of the pages: pages.py SOURCE PROGRAM [PAGE …]

Commands are indented lines that begin with "judder", such lines in blocks ```sh (there also cmp and python3), and words in backquotes that begin with it. They run
in the order of the page, with the commands of its transcripts between them, in a folder with the models that it shows (<!-- file: NAME -->); what a page says in
<!-- before: … --> runs at its place. On a page of the gallery, words in
backquotes that begin with an option of `run` ("Try `--variant edge`") are run with the model of the page. Each must end with 0, unless
the line says "# exit N", or the page says <!-- exit N: words -->; what it prints must hold TEXT where the page says <!-- prints TEXT: words -->. What holds a "…" or a word in capitals is a pattern and not run.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SECONDS = 300
RUN_OPTIONS = ("--variant", "--set", "--until", "--until-periodic", "--step", "--tolerance", "--engine", "--estimate")


def commands_of(page, text):
    """(command, expected exit code), in the order of the page; None: any code."""
    found = []  # (place, command, code)

    def add(place, line):
        command, _, comment = line.partition("#")
        code = re.search(r"exit (\d+)", comment)
        found.append((place, command.strip(), int(code.group(1)) if code else 0))

    for match in re.finditer(r"<!-- before: (.*?) -->", text, re.S):
        found.append((match.start(), " ".join(match.group(1).split()), 0))
    spaces = lambda match: " " * len(match.group(0))  # places stay
    for block in re.finditer(r"^```sh\n(.*?)^```", text, re.S | re.M):
        for line in re.finditer(r"^((?:judder|cmp|python3) .*)$", block.group(1), re.M):
            add(block.start(1) + line.start(), line.group(1))
    # Transcripts have a test of their own for what they print; what they leave is used below them.
    for block in re.finditer(r"^```console\n(.*?)^```", text, re.S | re.M):
        for line in re.finditer(r"^\$ ((?:judder|cat) .*)$", block.group(1), re.M):
            found.append((block.start(1) + line.start(), line.group(1), None))
    prose = re.sub(r"^```.*?^```", spaces, text, flags=re.S | re.M)
    for line in re.finditer(r"^    (judder .*)$", prose, re.M):
        add(line.start(), line.group(1))
    known = {" ".join(words.split()): int(code) for code, words in re.findall(r"<!-- exit (\d+): (.*?) -->", text, re.S)}
    in_gallery = page.parent.parent.name == "gallery"
    flowing = re.sub(r"^ {4}.*$", spaces, prose, flags=re.M)
    for match in re.finditer(r"`([^`]+)`", flowing):
        words = " ".join(match.group(1).split())
        if "…" in words or re.search(r"\b[A-Z]{3,}\b", words):
            continue
        if words.startswith("judder ") and len(words.split()) > 2:
            found.append((match.start(), words, known.get(words, 0)))
        elif in_gallery and words.split()[0] in RUN_OPTIONS and len(words.split()) > 1:
            found.append((match.start(), f"judder run gallery/{page.parent.name}/model.toml {words}", known.get(words, 0)))
    return [(command, code) for _, command, code in sorted(found, key=lambda each: each[0]) if "…" not in command]


def run_page(page, source, program):
    problems, count = [], 0
    text = page.read_text(encoding="utf-8")
    prints = {" ".join(words.split()): shown for shown, words in re.findall(r"<!-- prints (.*?): (.*?) -->", text, re.S)}
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(source / "gallery", pathlib.Path(folder) / "gallery")
        os.symlink(source / "docs", pathlib.Path(folder) / "docs")
        for name, body in re.findall(r"<!-- file: (\S+) -->\n```toml\n(.*?)```\n", text, re.S):
            (pathlib.Path(folder) / name).write_text(body, encoding="utf-8")
        os.symlink(program, pathlib.Path(folder) / "judder")
        environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"]}
        for number, (command, expected) in enumerate(commands_of(page, text)):
            count += 1
            shown = prints.pop(command, "")
            if command.startswith("judder run") and " -o " not in command and "--no-output" not in command and expected is not None:
                command += f" -o run{number}"
            try:
                done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
                if expected is not None and done.returncode != expected:
                    problems.append(f"{page.relative_to(source)}: $ {command}\n  exit {done.returncode}, not {expected}: {done.stderr.strip() or done.stdout.strip()[-300:]}")
                elif shown not in done.stdout:
                    problems.append(f"{page.relative_to(source)}: $ {command}\n  does not print {shown!r}: {done.stdout.strip()[-300:]}")
            except subprocess.TimeoutExpired:
                problems.append(f"{page.relative_to(source)}: $ {command}\n  not done after {SECONDS} s")
    problems += [f"{page.relative_to(source)}: names {label}, which only tests know" for label in re.findall(r"\bT-\d[\d.]*", text)]
    problems += [f"{page.relative_to(source)}: <!-- prints … --> of what is no command: {words}" for words in prints]
    return count, problems


def main(source, program, names):
    pages = [pathlib.Path(name).resolve() for name in names] or sorted(
        [*source.glob("gallery/**/README.md"), *source.glob("docs/**/*.md")])  # README.md: transcripts.py
    total, problems = 0, []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for count, found in pool.map(lambda page: run_page(page, source, program), pages):
            total += count
            problems += found
    print("\n".join(problems))
    print(f"{len(pages)} pages, {total} commands, {len(problems)} failures")
    return 0 if total and not problems else 1


sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve()), sys.argv[3:]))
