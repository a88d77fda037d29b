#!/usr/bin/env python3
"""What the program offers is there: help.py SOURCE PROGRAM

Every example of every help is executed, in a folder in which its files are; every verb that help and completion list answers to --help; every engine
that completion or the schema names is taken, and what they do not name is refused with the same list.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
# NAME.toml of an example is the model NAME of the gallery, or this one.
MODELS = {"ball": "bouncing-ball", "rod": "rod-impact", "particle": "klarbring-equilibria", "oscillator": "impact-oscillator", "table": "bouncing-table", "block": "rocking-basin"}
WRITTEN = {"lugre": """format = 1
[parameters]
W = 0.5
[coordinates]
x = { velocity = 0.2 }
[energy]
kinetic = "x'^2/2"
[[friction]]
name = "belt"
slip = "x' + W*sin(50*t)"
normal = 1
law = { type = "lugre", mu = "0.3 + 0.1*exp(-speed)", stiffness = 1e4, damping = 10 }
[run]
until = 1
"""}
failures = []
count = 0


def run(folder, command, code=0):
    global count
    count += 1
    environment = {**os.environ, "PATH": f"{folder}/bin:" + os.environ["PATH"], "HOME": str(folder), "PAGER": "cat", "JUDDER_SOLVER": f"{folder}/solver"}
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command.replace("| less", "| cat")], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != code:
        failures.append(f"$ {command}\n  exit {done.returncode}, not {code}: {done.stderr.strip() or done.stdout.strip()[-300:]}")
    return done.stdout + done.stderr


with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    (folder / "bin").mkdir()
    # Pages are made around it; what it is that they hold is a matter of the tests of pages.
    (folder / "solver").mkdir()
    for name in ("solver.js.gz", "solver.wasm.gz"):
        (folder / "solver" / name).write_text("solver", encoding="utf-8")
    os.symlink(program, folder / "bin/judder")
    listed = re.findall(r"^  ([a-z]+) {2,}\S", run(folder, "judder help"), re.M)
    assert len(listed) > 10, listed
    completed = re.search(r"compgen -W '([^']*)' -- \"\$word\"\)\)\n    return\n  fi\n  case", run(folder, "judder completion bash"))
    if not completed or sorted(completed.group(1).split()) != sorted(listed):
        failures.append(f"completion offers {completed and completed.group(1)}, help {listed}")

    # Examples, in the order of the help: later ones go on with what earlier ones have made.
    for name in ("fish/completions", "bash-completion/completions"):
        (folder / ".local/share" / name).mkdir(parents=True)
    (folder / ".config/fish/completions").mkdir(parents=True)
    for name in ("press", "klarbring"):
        shutil.copytree(source / "gallery" / name, folder / "my-models" / name)
    examples = []
    for verb in listed:
        text = run(folder, f"judder help {verb}")
        if run(folder, f"judder {verb} --help") != text:
            failures.append(f"{verb} --help and help {verb} differ")
        found = re.findall(r"^  (judder .*)$", text.partition("\nexamples:\n")[2], re.M)
        if not found:
            failures.append(f"{verb}: no examples")
        examples += found
    for command in examples:
        for name in re.findall(r"(?<![\w.-])([\w-]+)\.toml\b", command):
            if command.startswith("judder new "):  # writes it
                continue
            if name in WRITTEN:
                (folder / f"{name}.toml").write_text(WRITTEN[name])
                continue
            model = source / "gallery" / MODELS.get(name, name) / "model.toml"
            if not model.exists():
                failures.append(f"$ {command}\n  which model of the gallery is {name}.toml? Say so in {pathlib.Path(__file__).name}")
                continue
            shutil.copy(model, folder / f"{name}.toml")
        if "measured.csv" in command:
            shutil.copy(folder / "press/trajectory.csv", folder / "measured.csv")
        run(folder, command)

    # Engines: those of the completions and of the schema are those that are taken.
    engines = set(re.search(r"--engine\) COMPREPLY=\(\$\(compgen -W '([^']*)'", run(folder, "judder completion bash")).group(1).split())
    for shell in ("zsh", "fish"):
        text = run(folder, f"judder completion {shell}")
        for engine in engines:
            if not re.search(rf"\b{re.escape(engine)}\b", text):
                failures.append(f"completion for {shell} does not know the engine {engine}")
    said = run(folder, "judder check press.toml --engine none", 2)
    if set(re.search(r"there are: (.*)", said).group(1).split(", ")) != engines:
        failures.append(f"completion offers the engines {sorted(engines)}, a message says {said}")
    for engine in engines:
        out = run(folder, f"judder check press.toml --engine {engine} || test $? = 3")
        if "there is no engine" in out:
            failures.append(f"the engine {engine} is offered and is not there")

    def enums(node, key=""):
        if isinstance(node, dict):
            if key == "engine" and "enum" in node:
                yield set(node["enum"])
            for name, child in node.items():
                yield from enums(child, name)
        elif isinstance(node, list):
            for child in node:
                yield from enums(child, key)

    for names in enums(json.loads(run(folder, "judder schema"))):
        if names != engines:
            failures.append(f"the schema names the engines {sorted(names)}, not {sorted(engines)}")
    row = re.search(r"^\| `engine` \| (.*?) \|", run(folder, "judder schema --reference"), re.M)
    if not row or set(re.findall(r"`([^`]*)`", row.group(1))) != engines:
        failures.append(f"the reference of the model file names the engines {row and row.group(1)}, not {sorted(engines)}")

print(f"{count} commands, {len(examples)} examples, {len(failures)} failures")
print("\n".join(failures))
sys.exit(1 if failures or len(examples) < 20 else 0)
