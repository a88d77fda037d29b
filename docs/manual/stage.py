#!/usr/bin/env python3
"""Puts the tree of the manual together: stage.py SOURCE PROGRAM OUT

Pages of docs/ keep their names. The pages of the gallery become gallery/NAME.md, with pictures that PROGRAM draws of each model. The reference of the
C++ header is made from the header. Links between pages are rewritten for their places in the tree; a link to a file that is part of the project and no page
becomes its name. A link to what is not there is an error.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

SECONDS = 300
MOST_PICTURES = 3


def outside_code(text, change):
    """`text` with `change` applied to what is neither a fenced block nor a quotation in backquotes."""
    parts = re.split(r"(^```.*?^```[ ]*$|``.*?``|`[^`\n]*`)", text, flags=re.S | re.M)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


class Stage:
    def __init__(self, source, program, out):
        self.source, self.program, self.out = source, program, out
        self.problems = []
        self.place = {}  # a page of the project: where it stands in the tree
        for page in sorted(source.glob("docs/**/*.md")):
            self.place[page] = page.relative_to(source / "docs")
        for page in sorted(source.glob("gallery/*/README.md")):
            self.place[page] = pathlib.Path("gallery") / (page.parent.name + ".md")
        self.place[source / "gallery/README.md"] = pathlib.Path("gallery/index.md")
        self.place[source / "CHANGELOG.md"] = pathlib.Path("changelog.md")
        self.place[source / "CONTRIBUTING.md"] = pathlib.Path("contributing.md")

    def linked(self, page, text):
        """The text of `page` with its links for the tree."""
        here = self.place[page].parent

        def one(match):
            picture, words, target = match.group(1), match.group(2), match.group(3)
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                return match.group(0)
            path, _, anchor = target.partition("#")
            there = pathlib.Path(os.path.normpath(page.parent / path))
            if there == self.source / "README.md":
                there = self.source / "docs/index.md"
            if there.is_dir() and (there / "README.md") in self.place:
                there = there / "README.md"
            if not there.exists():
                self.problems.append(f"{page.relative_to(self.source)}: there is no {target}")
                return words
            if picture:
                inside = there.relative_to(self.source / "docs")
                return f"![{words}]({os.path.relpath(inside, here)})"
            if there not in self.place:
                return words if words else f"`{there.relative_to(self.source)}`"
            return f"[{words}]({os.path.relpath(self.place[there], here)}{'#' + anchor if anchor else ''})"

        return outside_code(text, lambda part: re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", one, part))

    def pictures(self, name):
        """Runs a model of the gallery and draws it; the figures that came out."""
        folder = self.out / "gallery" / name
        folder.mkdir(parents=True, exist_ok=True)
        model = self.source / "gallery" / name / "model.toml"
        shutil.copy(model, folder / "model.toml")
        run = self.out.parent / "runs" / name
        for command in ([self.program, "run", str(model), "-o", str(run)], [self.program, "plot", str(run), "-o", str(folder)]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
            if done.returncode not in (0, 4):  # a run may end by a paradox, and is drawn up to there
                return []
        return sorted(folder.glob("*.svg"))[:MOST_PICTURES]

    def write(self, place, text):
        file = self.out / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def go(self):
        shutil.rmtree(self.out, ignore_errors=True)
        names = sorted(page.parent.name for page in self.source.glob("gallery/*/README.md"))
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            drawn = dict(zip(names, pool.map(self.pictures, names)))
        for page, place in self.place.items():
            text = re.sub(r"^<!--.*?-->\n", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
            text = self.linked(page, text)
            # What is no whole document cannot be coloured as one.
            text = re.sub(r"^( *)```json\n((?:(?!```).)*?…)", r"\1```text\n\2", text, flags=re.S | re.M)
            if page == self.source / "docs/index.md":
                text = re.sub(r"^## On paper.*", "", text, flags=re.S | re.M)
            if page.parent.parent == self.source / "gallery" and drawn.get(page.parent.name):
                text += "\n## Pictures\n\n" + "".join(
                    f"![{figure.stem} of {page.parent.name}]({page.parent.name}/{figure.name})\n\n" for figure in drawn[page.parent.name])
            if page == self.source / "gallery/README.md":
                cards = "".join(f'<figure><a href="{name}.html"><img src="../_images/{name}.svg" alt="{name}"></a><figcaption>{name}</figcaption></figure>\n'
                                for name in names if drawn.get(name))
                text += '\n## Pictures\n\n<div class="gallery-pictures">\n' + cards + "</div>\n"
                text += "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
            self.write(place, text)
        shutil.copytree(self.source / "docs/figures", self.out / "figures", dirs_exist_ok=True)
        pictures = self.out.parent / "html/_images"
        pictures.mkdir(parents=True, exist_ok=True)
        for name, figures in drawn.items():
            if figures:
                shutil.copy(figures[0], pictures / f"{name}.svg")
        self.write("cpp-reference.md", header_page(self.source / "include/judder/judder.hpp"))
        for problem in self.problems:
            print(problem, file=sys.stderr)
        return 1 if self.problems else 0


def narrow(line, width=88):
    """A line of code as lines that fit a page: a long comment behind the code stands above it, and is wrapped."""
    if len(line) <= width or "///" not in line:
        return [line]
    code, _, comment = line.partition("///")
    start = " " * (len(line) - len(line.lstrip()))
    lines = textwrap.wrap(comment.lstrip("< "), width - len(start) - 4)
    return [f"{start}/// {part}" for part in lines] + ([code.rstrip()] if code.strip() else [])


def header_page(header):
    """The reference of a header: its opening, and every class and function with the comment above or beside it."""
    lines = header.read_text(encoding="utf-8").splitlines()
    opening = []
    for line in lines:
        if not line.startswith("//"):
            break
        opening.append(line[2:].removeprefix(" "))
    out = ["# The C++ header", "", f"Made from `include/judder/{header.name}`, which says the same.", ""]
    for line in opening:  # paragraphs, and code that is indented
        out.append(line if line.startswith("    ") else re.sub(r"([*_<>])", r"\\\1", line))
    out.append("")
    block, inside = [], False
    for line in lines[len(opening):]:
        start = re.match(r"(?:class|struct|enum class) (\w+)(?: final)?\b[^;]*\{", line)
        if start and not inside:
            comment = []
            while block and block[-1].startswith("///"):
                comment.insert(0, block.pop()[3:].strip())
            out += [f"## {start.group(1)}", "", " ".join(comment), "", "```cpp", line]
            inside = not line.rstrip().endswith("};")
            private = False
            if not inside:
                out += ["```", ""]
        elif inside:
            if line == " private:":
                private = True
            if line == "};":
                out += ["};", "```", ""]
                inside = False
            elif not private:
                out += narrow(line)
        else:
            block.append(line)
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.exit(Stage(pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve()), pathlib.Path(sys.argv[3]).resolve()).go())
