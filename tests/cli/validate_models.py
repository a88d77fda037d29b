"""Validates every bundled model against the schema, and wrong ones the other way round."""

import json
import pathlib
import sys

try:
    import tomllib

    import jsonschema
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

# Problems that the schema must see; the others need names, scopes or mechanics.
REFUSED = [
    "unknown-key-contact", "unknown-key-run", "unknown-key-law", "engine-that-is-none", "missing-format", "wrong-format",
    "missing-gap", "missing-name", "missing-law", "missing-rate", "missing-bristle-stiffness", "missing-table-points",
    "constraint-neither", "constraint-both", "single-brackets-contact", "double-brackets-run", "key-of-other-law",
    "key-of-other-shape", "type-list-for-value", "type-boolean-for-value", "type-number-for-text", "type-text-for-boolean",
    "type-four-slips", "type-stop", "word-engine", "word-direction", "word-law", "word-impact", "word-shape", "name-with-space",
    "name-of-parameter", "column-with-comma", "empty-expression", "variant-list",
]


def load(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def main(root):
    schema = json.loads((root / "schema/model.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures = 0

    models = sorted(root.glob("gallery/*/model*.toml"))
    first_writings = root.parent / "shared" / "models"
    if first_writings.is_dir():
        models += sorted(first_writings.glob("*.toml"))
    engines = schema["properties"]["run"]["properties"]["engine"]["enum"]
    for path in models:
        model = load(path)
        # First writings may name engines that are still to come: the table of such an engine is no fault of the schema.
        if first_writings in path.parents:
            run = model.get("run", {})
            if run.get("engine", "auto") not in engines:
                run["engine"] = "auto"
            model["run"] = {key: value for key, value in run.items() if not isinstance(value, dict)}
        for error in validator.iter_errors(model):
            print(f"{path}: {'.'.join(map(str, error.path))}: {error.message[:300]}")
            failures += 1

    for name in REFUSED:
        if validator.is_valid(load(root / "tests/cli/bad" / f"{name}.toml")):
            print(f"{name}.toml: the schema accepts it")
            failures += 1

    print(f"{len(models)} models, {len(REFUSED)} wrong ones, {failures} failures")
    return 0 if models and not failures else 1


sys.exit(main(pathlib.Path(sys.argv[1])))
