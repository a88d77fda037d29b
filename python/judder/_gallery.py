"""The bundled models, and their proof."""
from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable

from . import _core
from ._results import Report


def gallery_folder() -> pathlib.Path:
    """Where the bundled models are: $JUDDER_GALLERY, beside the package, in the share folder of its installation, or in the sources."""
    here = pathlib.Path(__file__).resolve().parent
    chosen = os.environ.get("JUDDER_GALLERY", "")
    if not chosen:
        for place in (here / "gallery", *(parent / "share" / "judder" / "gallery" for parent in here.parents)):
            if place.is_dir():
                return place
    found = _core.find_gallery(chosen, "")
    if not found:
        raise _core.FileError("the gallery was not found; the environment variable JUDDER_GALLERY may name its folder")
    return pathlib.Path(found)


def gallery() -> dict[str, str]:
    """Names and titles of the bundled models.

    >>> import judder
    >>> "press" in judder.gallery()
    True
    """
    return dict(_core.gallery_models(str(gallery_folder())))


class Verification(Report):
    """Published values against computed ones: ``passed``, ``failed``, and ``ok`` if none is off."""

    def __init__(self, told: _core.Told, passed: int, failed: int) -> None:
        super().__init__(told)
        self.passed = passed
        self.failed = failed

    @property
    def ok(self) -> bool:
        return self.failed == 0 and self.passed > 0


def verify(names: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (), *, engine: str = "") -> Verification:
    """Runs bundled models, all of them or those that are named, or folders with a reference.toml, against their published values."""
    known = gallery_folder()
    asked: list[str | os.PathLike[str]] = [names] if isinstance(names, (str, os.PathLike)) else list(names)
    asked = asked or [*sorted(gallery())]
    folders = []
    for name in asked:
        folder = known / name if isinstance(name, str) and (known / name / "model.toml").is_file() else pathlib.Path(name)
        if not (folder / "reference.toml").is_file():
            raise _core.FileError(f"{os.fspath(name)}: there is no reference.toml in this folder, and no bundled model is called so")
        folders.append(str(folder))
    return Verification(*_core.verify(folders, engine))
