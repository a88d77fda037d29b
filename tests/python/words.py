"""Docstrings of the package and the blocks ```python of its pages, executed: words.py

A block with ">>>" is a doctest; any other is run as it stands. Names live on from block to block.
"""
import doctest
import importlib
import os
import pathlib
import pkgutil
import re
import sys
import tempfile

import judder
from support import SOURCE


def page_blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)


def run_page(page):
    names, failed, tried = {"judder": judder}, 0, 0
    for number, block in enumerate(page_blocks(page), 1):
        name = f"{page.name}, block {number}"
        tried += 1
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, name, str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            failed += runner.run(test, clear_globs=False).failed
            names.update(test.globs)
        else:
            try:
                exec(compile(block, name, "exec"), names)
            except Exception as problem:
                print(f"{name}: {type(problem).__name__}: {problem}")
                failed += 1
    return tried, failed


def main():
    tried = failed = 0
    for module in ["judder", *(f"judder.{each.name}" for each in pkgutil.iter_modules(judder.__path__))]:
        result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
        tried, failed = tried + result.attempted, failed + result.failed
    docstrings = tried
    os.chdir(tempfile.mkdtemp())
    os.symlink(SOURCE / "gallery", "gallery")
    blocks = 0
    for page in (SOURCE / "docs" / "python.md", SOURCE / "README.md"):
        more = run_page(page)
        blocks, failed = blocks + more[0], failed + more[1]
    undocumented = [f"{name}.{each}" for name in ("Model", "Run", "Report", "Sweep", "Figure", "Stepper") for each, value in vars(getattr(judder, name)).items()
                    if not each.startswith("_") and callable(value) and not value.__doc__]
    print(f"{docstrings} examples in docstrings, {blocks} blocks on pages, {failed} failures; without words: {undocumented}")
    return 0 if docstrings > 10 and blocks >= 6 and not failed and not undocumented else 1


if __name__ == "__main__":
    sys.exit(main())
