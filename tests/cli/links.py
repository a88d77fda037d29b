#!/usr/bin/env python3
"""Links lead somewhere: links.py SOURCE

Every relative link of a page, with its anchor; every page that a comment of the code, a script or a test names (docs/….md, with #anchor or without); every
page of docs/ stands in the table of contents. And every word that ends a run has its section in docs/troubleshooting.md, every kind of event, word and field
its row in docs/reading-a-run.md.
"""
import os
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1]).resolve()
failures, counts = [], {"links": 0, "names": 0, "words": 0}


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def anchors(page):
    """Of its headings, as they are made by the site and by those who show Markdown: lower case, no marks, hyphens for spaces."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    out = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        out.add(re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-"))
    return out


def look(where, target):
    path, _, anchor = target.partition("#")
    there = pathlib.Path(os.path.normpath(where.parent / path)) if path else where
    if not there.exists():
        failures.append(f"{where.relative_to(source)}: there is no {target}")
    elif anchor and there.suffix == ".md" and anchor not in anchors(there):
        failures.append(f"{where.relative_to(source)}: {path or 'this page'} has no heading #{anchor}")


pages = sorted([*source.glob("*.md"), *source.glob("docs/**/*.md"), *source.glob("gallery/**/*.md")])
for page in pages:
    for target in re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if not re.match(r"[a-z]+:", target):
            counts["links"] += 1
            look(page, target)

code = [path for folder in ("apps", "bench", "cmake", "examples", "fuzz", "gallery", "include", "scripts", "src", "tests", "web/src")
        for path in source.glob(folder + "/**/*") if path.is_file() and path.suffix in (".cpp", ".hpp", ".ts", ".py", ".toml", ".cmake", ".txt", ".inc", "")]
for file in code:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        continue
    for name in re.findall(r"\b(docs/[\w/.-]+\.md(?:#[\w-]+)?)", text):
        counts["names"] += 1
        path, _, anchor = name.partition("#")
        if not (source / path).exists():
            failures.append(f"{file.relative_to(source)} names {path}, which is not there")
        elif anchor and anchor not in anchors(source / path):
            failures.append(f"{file.relative_to(source)}: {path} has no heading #{anchor}")

# The table of contents: pages that the build of the site makes stand there, too.
listed = set()
for index in source.glob("docs/**/index.md"):
    for block in re.findall(r"```\{toctree\}\n(.*?)```", index.read_text(encoding="utf-8"), re.S):
        listed |= {str(index.parent.relative_to(source / "docs") / line.strip()) for line in block.splitlines() if line.strip() and not line.startswith(":")}
for page in source.glob("docs/**/*.md"):
    name = str(page.relative_to(source / "docs").with_suffix(""))
    if name != "index" and name not in listed:
        failures.append(f"docs/{name}.md stands in no table of contents (docs/index.md)")

# The words of the program, from the code.
def words_of(file, function):
    text = (source / file).read_text(encoding="utf-8")
    body = re.search(rf"{re.escape(function)}.*?\n}}\n", text, re.S).group(0)
    return [word for word in re.findall(r'return "([^"]+)";', body)]


reasons = [word for word in words_of("src/core/status.cpp", "const char* name(Reason reason)") if word != "unknown"]
sections = anchors(source / "docs/troubleshooting.md")
for word in reasons:
    counts["words"] += 1
    if word not in sections:
        failures.append(f"docs/troubleshooting.md has no section '{word}', and a run may end so")
reading = (source / "docs/reading-a-run.md").read_text(encoding="utf-8")
rows = {word for row in re.findall(r"^\| (.*) \|$", reading, re.M) for word in re.findall(r"`([^`]+)`", row)}
kinds = words_of("src/engines/event.cpp", "const char* name(EventKind kind)")
details = words_of("src/engines/event.cpp", "text(Word word)")
fields = re.findall(r'"([a-z_]+)", (?:object|summary|std::move|Json|table)', re.search(r"Json out = object\(\s*\"program\".*?wall_seconds", (source / "src/io/json.cpp").read_text(encoding="utf-8"), re.S).group(0))
for word in [*kinds, *(word for word in details if word not in ("below", "above", "level")), *(field for field in fields if field not in ("file", "title"))]:
    counts["words"] += 1
    if word not in rows:
        failures.append(f"docs/reading-a-run.md has no row for `{word}`")

print(", ".join(f"{count} {what}" for what, count in counts.items()) + f", {len(failures)} failures")
print("\n".join(failures))
sys.exit(1 if failures or counts["links"] < 150 or counts["names"] < 10 or len(reasons) < 10 or counts["words"] < 40 else 0)
