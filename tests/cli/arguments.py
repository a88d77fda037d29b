#!/usr/bin/env python3
"""What a terminal gets to see of arguments and paths. arguments.py SOURCE PROGRAM

Every verb with every option and every positional, as its help lists them, is given values with line ends, colours, marks of direction and characters that
nobody sees; the same with models, runs, references and data files whose paths hold them. Nothing of that comes back raw, on neither stream: a line that the
program has not written begins with FORGED.
"""
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
failures = []
runs = 0

LINE = "q\nFORGED"
MARKS = "q\x1b[31m\r\u202e\u2028\u0085\u3164\u034f\ufe0f\U000e0041\U000e0101\ufffe\u00ad\ufff9\x7fFORGED"
BYTES = b"q\xff\xc2\x9b\nFORGED"
# Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt), controls, separators of lines, annotations and noncharacters.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufdd0-\ufdef"
                 "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]")


def run(*arguments, folder, codes=(0, 1, 2, 3, 4, 5), environment=None):
    global runs
    runs += 1
    done = subprocess.run([program, *arguments], capture_output=True, cwd=folder, timeout=120, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, **(environment or {})})
    for name, stream in (("stdout", done.stdout), ("stderr", done.stderr)):
        try:
            text = stream.decode()
        except UnicodeDecodeError as error:
            failures.append(f"{arguments!r}: {name}: {error}")
            continue
        bad = RAW.findall(text)
        forged = re.findall(r"^\s*FORGED.*|^judder: (?:judder)?:.*", text, re.MULTILINE)  # and nothing about a file without its name
        if bad or forged:
            failures.append(f"{arguments!r}: {name}: {bad[:5]!r} {forged[:2]!r} in {text[-300:]!r}")
    if done.returncode not in codes:
        failures.append(f"{arguments!r}: exit {done.returncode}, not one of {codes}: {done.stderr[-300:]!r}")
    return done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")


# By what the help calls a value: what it may look like, with the stranger's text in the place of H.
FORMS = {"NAME": ["H"], "NAME=VALUE": ["H", "H=1", "mu=H", "mu=1H"], "FACTOR": ["H", "1H"], "E": ["H", "eventH"], "e": ["H", "1e-6H"], "h": ["H", "1e-3H"],
         "T": ["H", "0.1H", "1 + H"], "DIR": ["H", "H/H", "none/H"], "WHICH": ["H", "variantsH"], "a,b": ["H", "event,H", "speed,H", "speed=0:1:3,H=0:1:3", "speed=0:H:3,W=0:1:2"],
         "e1,e2": ["H", "1e-6,H", "1e-6,1e-7H"], "h1,h2": ["H", "1e-3,H"], "FILE": ["H", "H/H.csv"], "NAME=A:B:N": ["H", "H=0:1:3", "mu=0:1:H"], "name=a:b:n": ["H", "H=0:1:3", "mu=0:1:H", "mu=H:1:3", "mu=0:1:3H"],
         "PATH": ["H", "H.svg", "H.csv"], "v": ["H", "1H"], "a:b:n": ["H", "0:1:H", "0:H:3", "0:1:3H"], "H": ["H", "3H"], "F": ["H", "meanH"],
         "N": ["H", "3H", "10H"], "S": ["H", "1H"], "R": ["H", "1H"], "LIST": ["H", "max(H)", "all,H"], "I/N": ["H", "1/H"], "x,y": ["H", "x,H", "H,H"], "t": ["H", "0.1H"], "w": ["H", "84mmH"], "WHERE": ["H", "impact:H"], "WAY": ["H", "upH"], "LAW": ["H", "moreauH"]}
MODELS = {"impact": "rod-impact", "dither": "dither-square", "equilibria": "klarbring-equilibria"}


def listed(verb):
    """Options as (forms of the name, value) and positionals, of the help."""
    options, positionals = [], []
    for line in run("help", verb, "--all", folder="/").splitlines():
        if match := re.match(r"  (?:(-\w), )?(--[\w-]+)(?: (\S+))?(?:\s+.*)?$", line):
            padded = len(re.match(r"  (?:-\w, )?--[\w-]+", line).group(0)) >= 22 or re.match(r"  (?:-\w, )?--[\w-]+ \S", line)
            options.append(([n for n in match.group(1, 2) if n], match.group(3) if padded else None))
        elif match := re.match(r"  ([A-Z]+) {2,}", line):
            positionals.append(match.group(1))
    return options, positionals


def bytes_of(text, stranger):
    return os.fsencode(text).replace(b"\0", stranger) if isinstance(stranger, bytes) else os.fsencode(text.replace("\0", stranger))


with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    verbs = re.findall(r"^  ([a-z]+) ", run("help", folder=folder), re.MULTILINE)
    assert len(verbs) > 10, verbs
    model = {verb: str(source / "gallery" / MODELS.get(verb, "press") / "model.toml") for verb in verbs}
    run("run", model["run"], "--until", "0.2", "-o", "first", folder=folder, codes=(0,))
    walked = 0
    for stranger in (LINE, MARKS, BYTES):
        run(bytes_of("\0", stranger), folder=folder, codes=(2,))
        run(bytes_of("--\0", stranger), folder=folder, codes=(2,))
        run("--json", bytes_of("\0", stranger), folder=folder, codes=(2,))
        for verb in verbs:
            options, positionals = listed(verb)
            file = {"FILE": [model[verb]], "DIR": ["first"], "SHELL": ["bash"], "NAME": ["mine"] if verb == "new" else [], "VERB": []}
            base = [word for name in positionals for word in file[name]]
            quick = ["--until", "0.1"] if any("--until" in names for names, _ in options) and verb != "dither" else []
            for unknown in ("--\0", "-\0", "--\0=1", "--output\0"):
                run(verb, *base, bytes_of(unknown, stranger), folder=folder, codes=(2,))
            run(verb, *base, *base, *base, bytes_of("\0", stranger), folder=folder)
            for at in range(len(positionals)):
                for form in ("\0", "none/\0", "\0.toml", "\0.svg"):
                    words = [*base[:at], bytes_of(form, stranger), *base[at + 1:]]
                    for more in ([], ["--json"]):
                        run(verb, *words, *more, folder=folder)
            for names, value in options:
                if value is None:
                    run(verb, *base, bytes_of(names[-1] + "=\0", stranger), folder=folder, codes=(2,))
                    continue
                for name, form in itertools.product(names, FORMS[value]):
                    if name.startswith("--") or form == "H":
                        walked += 1
                        rest = [] if name == "--until" else quick
                        needed = {"--filter": ["--simulate"], "--to": ["--law"], "--variant": ["--law"], "--set": ["--law"]}.get(name, []) if verb in ("dither", "plot") and not (
                            verb == "dither" and name in ("--variant", "--set")) else []
                        words = [model["run"] if needed == ["--law"] else word for word in base]
                        run(verb, *words, *rest, *needed, name, bytes_of(form.replace("H", "\0"), stranger), folder=folder)
    assert walked > 200, walked

    # Paths that are there.
    for stranger in (LINE, MARKS, BYTES):
        home = pathlib.Path(os.fsdecode(os.path.join(os.fsencode(place), b"home-" + bytes_of("\0", stranger))))
        home.mkdir()
        text = home / ("m" + home.name + ".toml")
        for verb in ("check", "explain", "run", "compare", "impact", "dither", "equilibria"):
            shutil.copy(model[verb], text)
            for more in ([], ["--json"], *([["--summary"]] if verb == "run" else [])):
                rest = ["--until", "0.2", "-o", str(folder / "plain")] if verb == "run" else ["--until", "0.2"] if verb == "compare" else []
                run(verb, text, *rest, *more, folder=folder, codes=(0, 4))
        run("impact", model["run"], folder=home, codes=(3,))
        shutil.copy(model["run"], text)
        run("impact", text, folder=folder, codes=(3,))
        run("impact", text, "--sweep", "mu=0:1:3", folder=folder, codes=(3,))
        run("dither", text, folder=folder)
        run("plot", text, folder=folder, codes=(2,))
        run("plot", "--law", text, "plane", "-o", "laws", folder=folder, codes=(0,))
        run("plot", "--law", text, "none", folder=folder, codes=(2,))
        run("run", text, "--until", "0.1", folder=folder)  # the default folder has the name of the model
        text.write_text("format = 1\n[coordinates]\nx = y\n")
        run("check", text, folder=folder, codes=(3,))
        run("plot", "--law", text, folder=folder, codes=(3,))
        # Data files.
        for written in ('{ file = "none.csv" }', "{ file = '''" + os.fsencode(home.name).decode(errors="replace").replace("\r", "") + "''' }"):
            text.write_text('format = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = "x\'^2"\n[parameters]\na = ' + re.sub("[\x00-\x08\x0b-\x1f\x7f]", "", written) + "\n")
            run("check", text, folder=folder, codes=(3,))
        # Runs.
        done = home / ("r" + home.name)
        shutil.copytree(folder / "first", done)
        for words in (["plot", done, "-o", "figures"], ["plot", done, folder / "first", "-o", "figures"], ["plot", done, "-o", "figures", "--overlay", text],
                      ["plot", done], ["run", model["run"], "--resume", done, "--until", "0.2"], ["run", model["run"], "--resume", done, "--until", "0.3", "-o", "gone-on"], ["run", model["run"], "--resume", done],
                      ["run", model["run"], "--resume", done, "--until", "0.3"], ["run", model["run"], "--resume", done, "--json"],
                      ["run", model["check"], "--resume", done, "--set", "mu=0.1"], ["run", model["dither"], "--resume", done], ["plot", text.parent],
                      ["run", model["run"], "--resume", home]):
            run(*words, folder=folder)
        # From inside, where the name of the folder is the only one that fits.
        run("run", model["run"], "--resume", ".", "-o", ".", folder=done)
        run("plot", ".", folder=done)
        (done / "events.csv").write_text("time,kind\nx\n")
        (done / "state.json").write_bytes(b"{")
        for words in (["plot", done], ["run", model["run"], "--resume", done, "--until", "1"]):
            run(*words, folder=folder, codes=(5,))
        # Galleries and references.
        own = home / ("g" + home.name)
        shutil.copytree(source / "gallery" / "press", own)
        for words in (["verify", own], ["verify", "--gallery", home], ["verify", "--gallery", home, "--json"], ["verify", "--gallery", home, "pres"], ["verify", "--gallery", done, "x"],
                      ["verify", "--gallery", text]):
            run(*words, folder=folder)
        for verb in ("gallery", "verify"):
            run(verb, folder=folder, environment={"JUDDER_GALLERY": str(home)})
            run(verb, "none", folder=folder, environment={"JUDDER_GALLERY": str(done)})
        run("gallery", own.name, "-o", "copied", folder=folder, environment={"JUDDER_GALLERY": str(home)})
        run("gallery", own.name, folder=folder, environment={"JUDDER_GALLERY": str(home)})
        said = 'a\\nFORGED\\u001b[31m\\u202E\\u3164'
        own.joinpath("reference.toml").write_text(f'source = "{said}"\n[[value]]\nlabel = "{said}"\ncolumn = "t"\nuntil = 0.1\nat = 0.05\npublished = 7\nexact = 0.05\nnote = "{said}"\nwhere = "{said}"\n'
                                                  f'[[value]]\nlabel = "{said}"\ncolumn = "{said}"\nuntil = 0.1\nat = 0.05\nexact = 1\n'
                                                  f'[[value]]\nlabel = "b"\nvariant = "{said}"\ncolumn = "t"\nuntil = 0.1\nat = 0.05\nexact = 1\n')
        for more in ([], ["--json"], ["--quiet"]):
            if "FORGED" not in run("verify", own, *more, folder=folder, codes=(5,)):  # it names a variant that there is not
                failures.append(f"verify {more}: a reference of strangers is not read at all")
        own.joinpath("reference.toml").write_text(f'"{said}" = 1\n')
        run("verify", own, folder=folder, codes=(5,))
        run("verify", "--gallery", home, folder=folder)

    # What stands inside a model: one text in every place that takes one.
    said = '"a\\nFORGED\\u001b[31m\\u202E\\u3164\\U000E0041"'
    BODY = 'format = 1\n[coordinates]\nx = { start = 0, velocity = -1 }\ny = { start = 0, velocity = 1 }\n[energy]\nkinetic = "(x\'^2 + y\'^2)/2"\n'
    CONTACT = '[[contact]]\nname = "c"\ngap = "x"\nslip = "y\'"\nfriction = 0.3\n'
    texts = {"title": f"title = {said}\nsource = {said}\n" + BODY + CONTACT, "variant": BODY + CONTACT + f"[variants]\n{said} = {{ x = 0, title = {said} }}\n",
             "contact": BODY + CONTACT.replace('"c"', said), "joint": BODY + f'[[friction]]\nname = {said}\nslip = "y\'"\nnormal = 1\nlaw = {{ mu = 0.2 }}\n',
             "watch": BODY + CONTACT + f'[[watch]]\nname = {said}\nwhen = "y - 0.05"\n', "force": BODY + CONTACT + f'[[force]]\nname = {said}\nalong = "y\'"\nvalue = "sin(100*t)"\n',
             "columns": BODY + CONTACT + f'[output]\nplots = [["t", {said}]]\n[output.columns]\n{said} = "x"\n', "key": BODY + CONTACT + f"[run]\n{said} = 1\n",
             "parameter": BODY + CONTACT + f"[parameters]\n{said} = 1\n", "value": BODY + CONTACT + f"[parameters]\na = {said}\n", "engine": BODY + CONTACT + f"[run]\nengine = {said}\n"}
    for name, text in texts.items():
        file = folder / f"{name}.toml"
        file.write_text(text)
        for words in (["check"], ["check", "--json"], ["explain"], ["explain", "--json"], ["run", "--until", "0.1", "-o", f"of-{name}"], ["run", "--until", "0.1", "--summary", "-o", f"of-{name}"],
                      ["run", "--until", "0.1", "--json", "-o", f"of-{name}"], ["impact"], ["impact", "--json"], ["impact", "--sweep", "x'=-2:-1:3"], ["dither"], ["dither", "--speed", "1"],
                      ["compare", "--until", "0.1"], ["plot", "--law", "-o", "laws"], ["check", "--names", "variants"], ["check", "--names", "parameters"],
                      *([["run", "--until", "0.1", "--variant", said.encode().decode("unicode_escape")[1:-1], "-o", "of-a-variant"]] if name == "variant" else [])):
            run(*words, file, folder=folder)
        if (folder / f"of-{name}").is_dir():
            run("plot", f"of-{name}", folder=folder)
            run("plot", f"of-{name}", "first", folder=folder)

print(f"{runs} commands, {len(failures)} failures")
for failure in failures[:60]:
    print(failure)
sys.exit(1 if failures else 0)
