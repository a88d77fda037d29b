"""mypy on the package and on a program that uses it, and the stub of the module against the module: types_of_package.py PACKAGE"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

USES = """
import judder
model: judder.Model = judder.Model(coordinates={"x": 0})
run: judder.Run = model.run({"x'": 1.0}, until=1, x=2.0)
reveal_type(run["x"])
reveal_type(run.status.reason)
"""
MISUSES = """
import judder
judder.load("m.toml").run(until="late")
"""


def mypy(folder, *arguments):
    environment = {**os.environ, "MYPYPATH": str(folder), "MYPY_CACHE_DIR": tempfile.mkdtemp()}
    done = subprocess.run([sys.executable, "-m", "mypy", *arguments], env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main(package):
    if importlib.util.find_spec("mypy") is None:
        print("mypy is not installed")
        return 77
    problems = []
    code, said = mypy(package.parent, "--strict", "-p", "judder")
    if code != 0:
        problems.append(said)
    with tempfile.TemporaryDirectory() as folder:
        uses, misuses = pathlib.Path(folder) / "uses.py", pathlib.Path(folder) / "misuses.py"
        uses.write_text(USES)
        misuses.write_text(MISUSES)
        code, said = mypy(package.parent, "--strict", str(uses))
        if code != 0 or "ndarray" not in said or "builtins.str" not in said:
            problems.append(said)
        code, said = mypy(package.parent, "--strict", str(misuses))
        if code == 0 or 'incompatible type "str"' not in said:
            problems.append("a wrong type was not found:\n" + said)
    environment = {**os.environ, "MYPYPATH": str(package.parent)}
    # Classes of pybind11 have a metaclass of its own, and say nothing of what they are made of.
    allowed = pathlib.Path(tempfile.mkdtemp()) / "allowed"
    allowed.write_text("judder\\._core\\.[A-Z]\\w*(\\.__init__)?\n")
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "judder._core", "--allowlist", str(allowed), "--ignore-unused-allowlist"], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problems.append(done.stdout + done.stderr)
    print("\n".join(problems) or "the package, a program that uses it and the stub of its module have no problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
