#!/usr/bin/env python3
"""Every test, fuzzer and file that a page names as its proof is there: named.py SOURCE"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
tests = "\n".join(path.read_text(encoding="utf-8") for path in source.glob("tests/**/*.cpp"))
lists = "\n".join(path.read_text(encoding="utf-8") for path in source.glob("tests/**/CMakeLists.txt"))
failures, count = [], 0
for page in sorted(source.glob("docs/*.md")):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    proofs = page.name == "threats.md"
    for word in sorted(set(re.findall(r"`([^`\n]+)`", text))):
        there = True
        if match := re.fullmatch(r"([A-Z][A-Za-z]+)\.([A-Z][A-Za-z]*|\*)", word):
            group, name = match.group(1), r"\w+" if match.group(2) == "*" else match.group(2)
            there = re.search(rf"\bTEST(?:_F|_P)?\(\s*{group},\s*{name}\s*\)", tests) is not None
            count += proofs
        elif re.fullmatch(r"fuzz_[a-z]+", word):
            there = (source / "fuzz" / f"{word}.cpp").exists()
            count += proofs
        elif re.fullmatch(r"(fuzz|tests|gallery|include|src|scripts|docs)/[\w./*-]+", word) and "NAME" not in word:
            there = bool(list(source.glob(word))) or bool(list(source.glob(word + ".*")))
        elif proofs and re.fullmatch(r"[a-z]+(_[a-z]+){2,}", word):
            there = f"NAME {word}" in lists
            count += 1
        if not there:
            failures.append(f"{page.relative_to(source)}: there is no {word}")
print(f"{count} proofs, {len(failures)} failures")
print("\n".join(failures))
sys.exit(1 if failures or count < 90 else 0)
