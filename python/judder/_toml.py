"""Tables of Python as the text of a model file.

The text is read by the one reader that there is, so that keys, checks and messages are those of a file.
"""
from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _key(name: object, place: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{place}: a name must be a text, not {name!r}")
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(number: float) -> str:
    if math.isfinite(number):
        return repr(number)
    return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"


def _value(value: Any, place: str) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    if isinstance(value, np.ndarray):
        return _value(value.tolist(), place)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k, place)} = {_value(v, f'{place}.{k}')}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(each, f"{place}[{i}]") for i, each in enumerate(value)) + "]"
    raise TypeError(f"{place}: a model holds numbers, texts, lists and tables, not {type(value).__name__}")


def _table(head: str, table: Mapping[str, Any], place: str) -> str:
    lines = [head] if head else []
    lines += [f"{_key(name, place)} = {_value(value, f'{place}.{name}')}" for name, value in table.items() if value is not None]
    return "\n".join(lines) + "\n"


def model_text(tables: Mapping[str, Any]) -> str:
    """The text of a model file with these tables; `format` is 1 unless it is given.

    >>> print(model_text({"coordinates": {"x": 1}, "contact": [{"gap": "x"}]}), end="")
    format = 1
    <BLANKLINE>
    [coordinates]
    x = 1
    <BLANKLINE>
    [[contact]]
    gap = "x"
    """
    alone: dict[str, Any] = {"format": 1}
    parts = []
    for name, value in tables.items():
        if isinstance(value, Mapping):
            parts.append(_table(f"[{_key(name, 'model')}]", value, name))
        elif isinstance(value, (list, tuple)) and value and all(isinstance(each, Mapping) for each in value):
            parts += [_table(f"[[{_key(name, 'model')}]]", each, f"{name}[{i}]") for i, each in enumerate(value)]
        elif value is not None:
            alone[name] = value
    return "\n".join([_table("", alone, "model"), *parts])
