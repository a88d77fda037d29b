"""What the tests of the package share."""
import os
import pathlib

SOURCE = pathlib.Path(os.environ["JUDDER_SOURCE"])
PROGRAM = os.environ["JUDDER_PROGRAM"]
GALLERY = SOURCE / "gallery"
FULL = bool(os.environ.get("JUDDER_FULL"))

BALL = """format = 1
title = "A ball"

[parameters]
e = 0.5
g = 9.81

[coordinates]
h = 1

[energy]
kinetic = "h'^2/2"
potential = "g*h"

[[contact]]
name = "ground"
gap = "h"
impact = "e"

[run]
until = 1.2
"""


def count(most):
    """All of them in a full run of the tests, a twentieth otherwise."""
    return most if FULL else max(most // 20, 8)
