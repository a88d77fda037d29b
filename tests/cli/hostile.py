#!/usr/bin/env python3
"""Files of strangers: small ones that ask for much, long chains, many faults, control characters. hostile.py SOURCE PROGRAM [slow]

Every file below 64 kB ends within two seconds of processor time and half a gibibyte, works or names the limit and its place, and needs
no stack that grows with a chain.
"""
import json
import math
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

source, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
slow = "slow" in sys.argv[3:]  # sanitizers: neither time nor memory are those of the program
failures = []

BODY = 'format = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = "x\'^2/2"\n'
ROUGH = ('format = 1\n[coordinates]\nx = { each = "i = 1 to %d" }\n[energy]\nkinetic = "sum(i = 1 to %d, x[i]\'^2)"\n'
         '[[contact]]\nname = "c"\neach = "i = 1 to %d, j = 1 to %d"\ngap = "x[i]"\nslip = "x[j]\'"\nfriction = %s\n[run]\nuntil = 1\n')
MANY = 'format = 1\n[parameters]\nn = %s\n[coordinates]\nx = { each = "i = 1 to n"%s }\n[energy]\n%s\n%s[run]\nuntil = 1\n'
FREE = 'kinetic = "sum(i = 1 to n, x[i]\'^2)"'
CHAIN = MANY % ("%d", ', start = "sin(i)"', FREE + '\npotential = "sum(i = 1 to n - 1, (x[i+1] - x[i])^2*(1 + i/n))"', "")
SPARSE = "x[i] + x[mod(i*i, n) + 1] + x[mod(7*i*i + i*13, n) + 1]"
HELD = '[[constraint]]\nname = "c"\neach = "i = 1 to n"\nzero = "%s"\n'
RING = '[[friction]]\nname = "j"\neach = "i = 1 to n"\nslip = "x[i]\' - x[mod(i, n) + 1]\'"\nnormal = 1\nlaw = { mu = 0.3 }\n'
# Chains of balls that fall on each other, with friction between them: each engine has its own way to be large.
BALLS = ('format = 1\n[parameters]\nn = %d\n[coordinates]\ny = { each = "i = 1 to n", start = "i", velocity = "-i" }\nx = { each = "i = 1 to n" }\n'
         '[energy]\nkinetic = "sum(i = 1 to n, x[i]\'^2/2 + y[i]\'^2/2)"\npotential = "sum(i = 1 to n, y[i]*9.81)"\n'
         '[[contact]]\nname = "a"\ngap = "y[1] - 1"\nslip = "x[1]\'"\nfriction = 0.3\nimpact = 0.5\n'
         '[[contact]]\nname = "c"\neach = "i = 2 to n"\ngap = "y[i] - y[i-1] - 1"\nslip = "x[i]\' - x[i-1]\'"\nfriction = 0.3\nimpact = 0.5\n'
         '[run]\nuntil = 10\n')
FORCE = '[[force]]\nalong = "x\'"\nvalue = "%s"\n'


class Points:
    """TABLE % n: a table of n points."""

    def __mod__(self, count):
        return "[tables]\nf = { x = " + str(list(range(count))) + ", y = " + str([i * i % 7 for i in range(count)]) + " }\n"


TABLE = Points()
CUBIC = '[tables]\nf = { x = [0, 1, 2, 3], y = [0, 1, 0, 2], between = "cubic", outside = "hold" }\n'


def run(*arguments, stack=None, folder=None, seconds=60):
    def limits():
        if stack and not slow:
            resource.setrlimit(resource.RLIMIT_STACK, (stack, stack))
        if not slow:
            resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *arguments], capture_output=True, cwd=folder, preexec_fn=limits, timeout=seconds, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, done.stdout.decode(), done.stderr.decode(), used


def pace():
    """How slow this machine is now, by a fixed piece of work: 1 where it takes what it took where the limits were set, 10 where ten times as long."""
    begin, x = time.process_time(), 0
    for i in range(1000000):
        x = (x * 31 + i) % 1000003
    return (time.process_time() - begin) / 0.035


def within(used, seconds):
    """Processor time, by the pace of the machine. Not under sanitizers, whose times are not those of the program."""
    return slow or used < seconds or used < seconds * pace()


def check(truth, message):
    if not truth:
        failures.append(message)


def chain(count, reverse=True):
    order = range(count, 0, -1) if reverse else range(1, count + 1)
    return order


def squares(count):
    """((x^2 - 0^2)^2 - 1^2)^2 …: each level has twice the factors of the one inside."""
    text = "x"
    for i in range(count):
        text = f"(({text})^2 - {i}^2)"
    return text


def doubled(formula, count, first="x + t"):
    """Definitions, each of which names the one before more than once; I is its number."""
    return "[definitions]\n" + f'd0 = "{first}"\n' + "".join(f'd{i} = "' + re.sub(r"\bd\b", f"d{i-1}", formula).replace("I", str(i)) + '"\n' for i in range(1, count + 1))


# name: (text, exit code, part of the message, stack)
SMALL = 256 * 1024
LIMIT = "too large to compile"
files = {
    "params-200": ((source / "tests/trials/G11-param-chain-200.toml").read_text(), 0, "", SMALL),
    "params-3000": (BODY + "[parameters]\n" + "".join(f'p{i} = "p{i-1} + 1"\n' for i in chain(3000)) + "p0 = 1\n", 0, "", SMALL),
    "list-2000": (BODY + "[parameters]\na = [" + ", ".join(f'"a[{i+2}] + 1"' for i in range(2000)) + ", 1]\n", 0, "", SMALL),
    "definitions-3000": (BODY + "[definitions]\n" + "".join(f'd{i} = "d{i-1} + x"\n' for i in chain(3000)) + 'd0 = "x"\n' + FORCE % "d3000", 0, "", SMALL),
    "start-400": ("format = 1\n[energy]\nkinetic = \"" + " + ".join(f"x{i}'^2" for i in range(401)) + "\"\n[coordinates]\n"
                  + "".join(f'x{i} = "x{i-1} + 1"\n' for i in chain(400)) + "x0 = 1\n", 0, "", SMALL),
    "rates-500": ("format = 1\n[state]\n" + "".join(f's{i} = {{ start = 1, rate = "s{i-1}\'" }}\n' for i in chain(500))
                  + 's0 = { start = 1, rate = "1" }\n', 0, "", SMALL),
    "and-900": (BODY + FORCE % ("if(" + " and ".join(f"x > {i}*t" for i in range(900)) + ", 1, 2)"), 0, "", SMALL),
    "sum-900": (BODY + FORCE % "+".join(["x"] * 900), 0, "", SMALL),
    "cycle-parameters": (BODY + "[parameters]\n" + "".join(f'p{i} = "p{(i+1)%3000}"\n' for i in range(3000)), 3, "in a cycle", SMALL),
    "cycle-definitions": (BODY + "[definitions]\n" + "".join(f'd{i} = "d{(i+1)%3500}"\n' for i in range(3500)), 3, "uses itself", SMALL),
    "functions": (BODY + '[definitions]\n"f0(a)" = "a"\n' + "".join(f'"f{i}(a)" = "f{i-1}(a) + 1"\n' for i in range(1, 300)) + FORCE % "f299(x)", 3, "functions call one another", None),
    "minmax": ((source / "tests/trials/G03-minmax-14.toml").read_text(), 0, "", None),
    "if": ((source / "tests/trials/G04-if-def-14.toml").read_text(), 0, "", None),
    "primes": ((source / "tests/trials/G05-prime-12.toml").read_text(), 3, "G05" and LIMIT, None),
    "tuples": ((source / "tests/trials/G06-each-when-400.toml").read_text(), 3, "200000 index tuples", None),
    "empty-ranges": (BODY + '[[force]]\nalong = "x\'"\neach = "i = 1 to 1000000, j = 1 to 0"\nvalue = "1"\n', 3, "200000 index tuples", None),
    "unknown": (BODY + "[definitions]\n" + "".join(f'd{i} = "u{i}"\n' for i in range(4000)), 3, "more than 100 errors", None),
    "unknown-parameters": (BODY + "[parameters]\n" + "".join(f'p{i} = "q{i}"\n' for i in range(4000)), 3, "more than 100 errors", None),
    "variants": ("format = 1\n[coordinates]\n" + "".join(f"x{i} = 1\n" for i in range(60)) + '[energy]\nkinetic = "'
                 + " + ".join(f"x{i}'^2" for i in range(60)) + '"\n[variants]\n' + "".join(f"v{k} = {{ x1 = {k} }}\n" for k in range(1000)), 0, None, None),
    "coordinates": ('format = 1\n[coordinates]\nx = { each = "i = 1 to 99999", start = "i" }\n[energy]\nkinetic = "x[1]\'^2"\n', 3, "200000 terms", None),
    "coordinates-3000": ('format = 1\n[coordinates]\nx = { each = "i = 1 to 3000" }\n[energy]\nkinetic = "sum(i = 1 to 3000, x[i]\'^2)"\n', 3, LIMIT, None),
    "coordinates-plain": ('format = 1\n[coordinates]\nx = { each = "i = 1 to 99999" }\n[energy]\nkinetic = "x[1]\'^2"\n', 3, None, None),
    "coordinates-20000": ('format = 1\n[coordinates]\nx = { each = "i = 1 to 20000" }\n[energy]\nkinetic = "sum(i = 1 to 20000, x[i]\'^2)"\n', 3, LIMIT, None),
    "coordinates-and-contacts": ('format = 1\n[coordinates]\nx = { each = "i = 1 to 3000" }\n[energy]\nkinetic = "sum(i = 1 to 3000, x[i]\'^2)"\n'
                                 '[[contact]]\nname = "c"\neach = "i = 1 to 3000"\ngap = "x[i] + 1"\n', 3, LIMIT, None),
    "states": ('format = 1\n[state]\nz = { each = "i = 1 to 20000", start = "i", rate = "-z[i]" }\n', 3, LIMIT, None),
    "states-6900": ('format = 1\n[state]\nz = { each = "i = 1 to 6900", start = "i", rate = "-z[i]" }\n', None, None, None),
    "variants-3000": (BODY + "[parameters]\na = 1\n[variants]\n" + "".join(f"v{k} = {{ a = {k} }}\n" for k in range(3000)), 0, None, None),
    "contacts": (BODY + '[[contact]]\nname = "c"\neach = "i = 1 to 99999"\ngap = "x + i"\n', 3, None, None),
    "products": (BODY + FORCE % "*".join(f"(x + {i}*t)" for i in range(900)), None, None, None),
    "powers": (BODY + 'potential = "' + "^".join(["(x + 2)"] * 150) + '"\n', None, None, None),
    "modulo": (BODY + FORCE % ("mod(" * 150 + "x" + ", 1.5)" * 150), None, None, None),
    "columns": (BODY + "[output.columns]\n" + "".join(f'c{i} = "x*{i}"\n' for i in range(3500)), None, None, None),
    "tables": (BODY + "[tables]\nf = { x = [" + ", ".join(map(str, range(5000))) + "], y = [" + ", ".join(map(str, range(5000))) + "] }\n"
               + FORCE % "f(f(f(f(x))))", None, None, None),
    "table-sum": (BODY + TABLE % 3000 + FORCE % "sum(i = 1 to 5000, f(x - i))", 3, LIMIT, None),
    "table-sum-short": (BODY + TABLE % 100 + FORCE % "sum(i = 1 to 15000, f(x - i))", None, None, None),
    "definitions-multiplied": (BODY + "[definitions]\n" + "".join(f'"f{i}(a, b)" = "f{i+1}(a + b, b)*f{i+1}(b, a)"\n' for i in range(12))
                               + '"f12(a, b)" = "sin(a*b)"\n' + FORCE % "f0(x, t)", 3, LIMIT, None),
    "watches-of-many": (BODY + "".join(f'[[watch]]\nname = "w{i}"\nzero = "x + i"\neach = "i = 1 to 200"\n' for i in range(900)), 0, None, None),
    "table-nested": (BODY + TABLE % 1000 + FORCE % ("f(" * 30 + "x" + ")" * 30), 0, None, None),
    **{f"sum-{word}": (BODY + FORCE % f"sum(i = 1 to 15000, {formula})", None, None, None) for word, formula in
       {"abs": "abs(x - i)", "abs-velocity": "abs(x' - i)", "step": "step(x - i)", "bump": "bump(x - i)", "mod": "mod(x, i)", "max": "max(x, i)",
        "min": "min(x, i*t)", "sign": "sign(x - i)", "if": "if(x > i, 1, 2)", "floor": "floor(i*x)"}.items()},
    "potential-abs": (BODY + 'potential = "sum(i = 1 to 15000, abs(x - i))"\n', 0, None, None),
    "surfaces-long": (BODY + FORCE % "sum(i = 1 to 3000, step(sum(j = 1 to 300, sin(j*x)) - i))", None, None, None),
    "gap-of-factors": (BODY + '[[contact]]\nname = "c"\neach = "i = 1 to 1500"\ngap = "' + "*".join(f"(x + {k} + i)" for k in range(30)) + '"\n', None, None, None),
    "joints-20000": (BODY + '[[friction]]\nname = "j"\neach = "i = 1 to 20000"\nslip = "x\' - i"\nnormal = "1 + t^2"\nlaw = { mu = 0.2 }\n', 3, LIMIT, None),
    "forces-90000": (BODY + '[[force]]\neach = "i = 1 to 90000"\nalong = "x\'"\nvalue = "i*x"\n', 3, None, None),
    "steps-in-forces": (BODY + '[[force]]\neach = "i = 1 to 20000"\nalong = "x\'"\nvalue = "step(t - i)"\n', None, None, None),
    "list-of-max": (BODY + FORCE % ("max(" + ", ".join(f"{i}*x" for i in range(3000)) + ")"), None, None, None),
    "states-dense": ('format = 1\n[state]\nz = { each = "i = 1 to 300", start = 1, rate = "sum(j = 1 to 300, abs(z[j])*z[i])" }\n', 3, None, None),
    "angles": (BODY + FORCE % "sum(i = 1 to 5000, asin(sin(i*x)) + atan2(x - i, t - i))", None, None, None),
    "columns-of-sums": (BODY + "[output.columns]\n" + "".join(f'c{i} = "sum(k = 1 to 1000, abs(x - k - {i}))"\n' for i in range(500)), None, None, None),
    "definitions-doubled": (BODY + '[definitions]\n"f0(u)" = "sin(u)"\n' + "".join(f'"f{i}(u)" = "f{i-1}(f{i-1}(u))"\n' for i in range(1, 20)) + FORCE % "f19(x)", 3, "200 000 operations", None),
    "brackets": (BODY + FORCE % ("(" * 20000 + "x" + ")" * 20000), 3, "nested deeper", SMALL),
    "signs": (BODY + FORCE % ("-" * 30000 + "x"), 3, "nested deeper", SMALL),
    "dots": (BODY + ".".join(["a"] * 20000) + " = 1\n", 3, "nested deeper", SMALL),
    "primes-50000": (BODY + FORCE % ("x" + "'" * 50000), 3, "follow one another", SMALL),
    "pendulum-60": ('format = 1\n[coordinates]\nx = { each = "i = 1 to 60" }\n[energy]\nkinetic = "sum(k = 1 to 60, (sum(i = 1 to k, '
                    "cos(x[i])*x[i]'))^2 + (sum(i = 1 to k, sin(x[i])*x[i]'))^2)\"\n", None, None, None),
    "primed-roots": (BODY + '[output]\ncolumns = { a = "(hypot(x, t, x*t))' + "'" * 8 + '" }\n', None, None, None),
    "squares": (BODY + '[[contact]]\nname = "c"\ngap = "' + squares(60) + '"\n', 3, LIMIT, None),
    "squares-each": (BODY + '[[contact]]\nname = "c"\neach = "i = 1 to 50"\ngap = "' + squares(15) + '"\n', 3, LIMIT, None),
    "squares-defined": (BODY + doubled("d^2 - I", 500, "x") + '[[contact]]\nname = "c"\ngap = "d500"\n', 3, LIMIT, None),
    "squares-with-friction": (BODY + '[[contact]]\nname = "c"\ngap = "' + squares(12) + '"\nslip = "t"\nfriction = 0.1\n', 3, "is a product", None),
    **{f"doubled-{word}-{count}": (BODY + CUBIC + doubled(formula, count) + FORCE % f"d{count}", None, None, None)
       for count in (60, 1000) for word, formula in
       {"bump": "bump(d)*d", "step": "step(d)*d", "sign": "sign(d) + d", "angle": "acos(cos(d))*d", "table": "f(d) - d", "floor": "floor(d) - d",
        "if": "if(d > 1 and d < 2 or d > 3 and d < 4, d, -d)", "abs": "abs(d - t)", "min": "min(d*t, d + x)"}.items()},
    **{f"doubled-potential-{word}-{count}": (BODY + f'potential = "d{count}"\n' + doubled(formula, count), None, None, None)
       for count in (30, 1000) for word, formula in {"bump": "bump(d)*d", "floor": "floor(d) - d"}.items()},
    "sums-too-long": (BODY + "[parameters]\n" + "".join(f'p{i} = "sum(i = 1 to 100000, sin(i))"\n' for i in range(1000)), 3, "200 000 operations", None),
    "laws-200": (BODY + "".join(f'[[friction]]\nname = "f{i}"\nslip = "x\'"\nnormal = 1\nlaw = {{ mu = "' + "abs(speed - " * 30 + "x" + ")" * 30 + '" }\n'
                                for i in range(200)), 0, None, None),
    **{f"name-{word}": (BODY + text % ("n" * 20000), 3, "10000000 letters", None) for word, text in {
        "contacts": '[[contact]]\nname = "%s"\neach = "i = 1 to 90000"\ngap = "x + i"\n',
        "forces": '[[force]]\nname = "%s"\neach = "i = 1 to 50000"\nalong = "x\'"\nvalue = "i"\n',
        "states": '[state]\n%s = { each = "i = 1 to 20000", start = 0, rate = 0 }\n',
        "watches": '[[watch]]\nname = "%s"\neach = "i = 1 to 90000"\nzero = "x - i"\n',
        "joints": '[[friction]]\nname = "%s"\neach = "i = 1 to 20000"\nslip = "x\'"\nnormal = 1\nlaw = { mu = 0.3 }\n',
        "constraints": '[[constraint]]\nname = "%s"\neach = "i = 1 to 20000"\nzero = "x - i"\n',
        "indices": '[[watch]]\nname = "w"\neach = "%s = 1 to 90000"\nzero = "x"\n',
        "switches": '[[contact]]\nname = "%s"\ngap = "x + sum(i = 1 to 4000, abs(x - i))"\n'}.items()},
    "name-left-out": (BODY + '[[watch]]\nname = "w"\neach = "' + "k" * 30000 + ' = 1 to 199000"\nwhen = "1 > 2"\nzero = "x"\n', 3, LIMIT, None),
    "plots-of-families": ('format = 1\n[coordinates]\nx = { each = "i = 1 to 300" }\n[energy]\nkinetic = "sum(i = 1 to 300, x[i]\'^2)"\n[output]\nplots = ['
                          + ", ".join(['["t", "x"]'] * 3000) + "]\n", 3, "10000000 letters", None),
    **{f"rough-{n}-{m}{law}": (ROUGH % (n, n, n, m, law or 0.3), None, None, None)
       for n, m, law in ((200, 20, ""), (100, 100, ""), (100, 60, '{ mu = "0.3 + exp(-speed)" }'))},
    "lugre-9000": (BODY + '[[friction]]\nname = "f"\neach = "i = 1 to 9000"\nslip = "x\'"\nnormal = 1\n'
                   'law = { type = "lugre", mu = "0.3 + 0.1*exp(-speed*i)", stiffness = 10, damping = 1 }\n', None, None, None),
    # Dense algebra hides in these: the rank of many constraints, the balance of many massless coordinates, masses and compliances.
    "many-constraints": (MANY % (1200, "", FREE, HELD % SPARSE), 0, None, None),
    "many-constraints-driven": (MANY % (1200, "", FREE, HELD % (SPARSE + " - t^2*sin(i)")), 3, "contradicts the other constraints", None),
    "many-constraints-chain": (MANY % (1200, "", FREE, HELD.replace("to n", "to n - 1") % "x[i] - x[i+1] - t^2*sin(i)"), 0, None, None),
    "many-constraints-full": (MANY % (900, "", FREE, HELD % "sum(j = 1 to n, x[j]*sin(i*j)) - t^2"), None, None, None),
    "many-contacts-shared": (MANY % (1100, "", FREE, '[[contact]]\nname = "c"\neach = "i = 2 to n"\ngap = "x[i] + x[1]"\nslip = "x[i]\' - x[1]\'"\n'
                                     "friction = 0.3\n"), 0, None, None),
    **{f"many-massless-{n}": (MANY % (n, ", massless = true", 'potential = "sum(i = 1 to n, x[i]^2)"\ndissipation = "sum(i = 1 to n, x[i]\'^2)"', ""), None, None, None)
       for n in (1200, 1500)},
    "many-massless-bent": (MANY % (900, ", massless = true", 'potential = "sum(i = 1 to n - 1, (x[i] - x[i+1])^2 + (x[i] - x[i+1])^4) + x[n]^2"', ""), None, None, None),
    "many-masses-coupled": (MANY % (600, "", FREE[:-1] + " + (sum(i = 1 to n, x[i]'))^2\"", ""), None, None, None),
    "many-masses-and-contacts": (MANY % (300, "", FREE[:-1] + " + (sum(i = 1 to n, x[i]'))^2\"",
                                         '[[contact]]\nname = "c"\neach = "i = 1 to 3000"\ngap = "x[mod(i, n) + 1] + i"\nslip = "x[mod(7*i, n) + 1]\'"\nfriction = 0.3\n'), None, None, None),
    "many-joints": (MANY % (1000, "", FREE, RING), None, None, None),
    # Every use of a long table is a long text by itself, too long to be shown.
    **{f"table-explained-{between}": (BODY + f'potential = "sum(i = 1 to 1000, f(x - i))"\n' + (TABLE % 4000).replace(" }", f', between = "{between}", outside = "hold" }}'),
                                      0, None, None) for between in ("cubic", "linear")},
    # The structure is seen: a chain, a plate on many feet, a stack that falls. They took a minute and more.
    "chain-of-contacts": (MANY % (800, ', start = "i"', FREE + '\npotential = "sum(i = 1 to n - 1, (x[i+1] - x[i] - 1)^2)"',
                                  '[[contact]]\nname = "c"\neach = "i = 1 to n - 1"\ngap = "x[i+1] - x[i]"\n'), 0, None, None),
    "plate-on-feet": ('format = 1\n[coordinates]\nz = 0\na = 0\nb = 0\n[energy]\nkinetic = "(z\'^2 + a\'^2 + b\'^2)/2"\npotential = "9.81*z"\n'
                      '[[contact]]\nname = "c"\neach = "i = 1 to 800"\ngap = "z + sin(i)*a + cos(i)*b"\n', 0, None, None),
    "stack": (MANY % (800, ', start = "i"', FREE + '\npotential = "sum(i = 1 to n, 9.81*x[i])"', '[[contact]]\nname = "f"\ngap = "x[1]"\n'
                      '[[contact]]\nname = "c"\neach = "i = 2 to n"\ngap = "x[i] - x[i-1] - 1"\n'), 0, None, None),
    "every": ((source / "tests/trials/G09-every.toml").read_text(), 3, "1e+19 rows", None),
    "samples": (BODY + "[run]\nuntil = 1\n[output]\nsamples = 1e12\n", 3, "from 2 to 1e+09", None),
}

with tempfile.TemporaryDirectory() as folder:
    for name, (text, code, message, stack) in files.items():
        path = pathlib.Path(folder) / (name + ".toml")
        path.write_text(text)
        got, out, err, used = run("check", str(path), stack=stack)
        what = f"{name}: exit {got}, {used:.2f} s: {(err or out)[:300]}"
        check(got in (0, 3) if code is None else got == code, what)
        check(not message or message in err, what)
        check(within(used, 2), what)
        if got == 3:
            check(re.search(re.escape(name) + r"\.toml:\d+:\d+: error: ", err), what)
        for arguments in (["explain"], ["explain", "--json"]) if name.startswith(("doubled", "laws", "rough", "lugre", "many", "table")) else ():
            got, out, err, used = run(*arguments, str(path), stack=stack)
            check(got in (0, 3) and within(used, 2), f"{arguments} {name}: exit {got}, {used:.2f} s: {err[:300]}")
            check(not name.startswith("many") or len(out) < 1 << 24, f"{arguments} {name}: {len(out)} letters")

    # Switches inside one another are decided in the time of their number.
    got, out, err, used = run("run", str(source / "tests/trials/G03-minmax-14.toml"), "--until", "0.1", "-o", folder + "/minmax")
    check(got == 0 and within(used, 2), f"minmax runs: exit {got}, {used:.2f} s: {err[-300:]}")

    # A data file that is named often is read once, by whatever name, and each use counts.
    (pathlib.Path(folder) / "matrix.mtx").write_text("%%MatrixMarket matrix array real general\n500 500\n" + "1.5\n" * 250000)
    for count, code in ((3, 0), (20, 3), (1000, 3)):
        path = pathlib.Path(folder) / f"named-{count}.toml"
        path.write_text(BODY + "[parameters]\n" + "".join('a%d = { file = "%smatrix.mtx" }\n' % (i, "./" * (i % 9)) for i in range(count)))
        got, out, err, used = run("check", str(path))
        check(got == code and within(used, 2), f"a data file named {count} times: exit {got}, {used:.2f} s: {err[-300:]}")
        check(code == 0 or "more than 1000000 numbers" in err, f"a data file named {count} times: {err[-300:]}")

    # Fifty thousand parameters, each of the one before: a megabyte, compiled and written with the run in the time of its length.
    path = pathlib.Path(folder) / "chain.toml"
    path.write_text(BODY + "[parameters]\np1 = 1\n" + "".join(f'p{i} = "p{i - 1} + 1"\n' for i in range(2, 50001)))
    got, out, err, used = run("run", str(path), "--until", "1", "-o", folder + "/chain", seconds=600)
    check(got == 0 and within(used, 3), f"a chain of 50000 parameters: exit {got}, {used:.2f} s: {err[-300:]}")
    got, out, err, used = run("run", str(path), "--until", "2", "--resume", folder + "/chain", "-o", folder + "/chain", seconds=600)
    check(got == 0 and within(used, 3), f"a chain of 50000 parameters taken up: exit {got}, {used:.2f} s: {err[-300:]}")

    # --work lifts the limit.
    path = pathlib.Path(folder) / "variants.toml"
    check("variants were checked" in run("check", str(path))[2], "all variants are checked, or it is said")
    check("variants were checked" not in run("check", "--work", "20", str(path))[2], "--work 20 checks all variants")

    # Control characters: nothing that a terminal obeys reaches it, in any verb.
    def clean(what, text):
        bad = [c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0 or 0x200b <= ord(c) <= 0x200f or 0x2028 <= ord(c) <= 0x202e
               or 0x2060 <= ord(c) <= 0x206f or 0xfff9 <= ord(c) <= 0xfffb or 0xe0000 <= ord(c) <= 0xe007f or c in "\u061c\ufeff"]
        check(not bad, f"{what}: control characters {bad[:5]!r} in {text[:200]!r}")

    ansi = str(source / "tests/trials/G07-ansi.toml")
    unseen = pathlib.Path(folder) / "unseen.toml"
    unseen.write_text('title = "a\\U000E0041\\u200B\\u200D\\uFFF9\\uFFFB"\n' + BODY + '[run]\nuntil = 1\nengine = "\\U000E0041"\n')
    got, out, err, used = run("check", str(unseen))
    clean("unseen", err)
    check("'\\udb40\\udc41'" in err, f"a tag is shown: {err}")
    unseen.write_text(unseen.read_text().replace('engine = "\\U000E0041"\n', ""))
    for arguments in (["explain"], ["explain", "--json"]):
        got, out, err, used = run(*arguments, str(unseen))
        clean(arguments, out)
        check(got == 0 and "\\u200b" in out, f"{arguments}: {out[:200]}")
        check("--json" not in arguments or json.loads(out)["title"] == "a\U000E0041\u200b\u200d\ufff9\ufffb", f"{arguments}: {out[:200]}")
    got, out, err, used = run("run", ansi, "-o", "a\nb", folder=folder)
    check(got == 2 and "a\\x0ab" in err, f"a line end in the name of an output: {err}")
    runs = pathlib.Path(folder) / "runs"
    for arguments in (["check", ansi], ["explain", ansi], ["explain", "--json", ansi], ["run", ansi, "-o", str(runs / "a")],
                      ["run", "--json", ansi, "-o", str(runs / "b")], ["run", "--summary", ansi, "-o", str(runs / "c")],
                      ["plot", str(runs / "a")], ["check", str(source / "tests/trials/G08-esc.toml")],
                      ["check", "--variant", "\x1b[31mred", ansi], ["check", "--set", "\x1b[31mred=1", ansi], ["check", "\x1b]0;title\x07.toml"],
                      ["\x1b[31mverb"], ["check", "--\x1b[31m", ansi], ["compare", ansi, "--engines", "\x1b[31m"], ["check", "--names", "variants", ansi],
                      ["plot", "\x1b[31m"], ["gallery", "\x1b[31m"], ["dither", ansi, "--law", "\x1b[31m"], ["impact", ansi, "--sweep", "\x1b[31m=0:1:3"]):
        got, out, err, used = run(*arguments, folder=folder)
        clean(arguments, out)
        clean(arguments, err)
        check(got in (0, 2, 3, 5), f"{arguments}: exit {got}: {err}")
    summary = run("run", "--summary", ansi, "-o", str(runs / "d"))[1]
    check("<script>" not in summary, f"a title is text in Markdown: {summary[:200]}")
    for table in runs.rglob("*.csv"):
        clean(table, table.read_text())
    for figure in runs.rglob("*.svg"):
        clean(figure, figure.read_text())
        check("<script>" not in figure.read_text(), f"{figure}: a name becomes an element")
    check(list(runs.rglob("*.svg")), "no figure was drawn")
    data = pathlib.Path(folder) / "data.toml"
    data.write_text(BODY + "[parameters]\na = { file = \"cells.csv\" }\n")
    (pathlib.Path(folder) / "cells.csv").write_text("1,\x1b[31mred\x9b\n")
    clean("cells", run("check", str(data))[2])

    # An interrupt is heard while a model is compiled and while it runs.
    def spent(process):
        """Seconds of processor time so far; None where the system does not tell, or the process is over."""
        try:
            fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return None
        return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    fast = min(1, pace())  # a machine that is faster has come as far sooner

    def heard(after, *arguments, most=512):
        """Interrupted after so much processor time: ends with 130 within a second of it, and within so many MiB."""
        # Into a file: a pipe that nobody reads would stop who writes.
        with open(pathlib.Path(folder) / "output", "w+", encoding="utf-8") as output, open(pathlib.Path(folder) / "said", "w+", encoding="utf-8") as said:
            process = subprocess.Popen([program, *arguments], cwd=folder, stdout=output, stderr=said,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            begin, used = time.monotonic(), 0
            while used is not None and used < after * fast and time.monotonic() - begin < 120:
                time.sleep(0.005)
                used = spent(process) if sys.platform == "linux" else time.monotonic() - begin
            os.kill(process.pid, signal.SIGINT)  # by its number: the other way would look whether it is over, and take its usage away
            killer = threading.Timer(120, process.kill)
            killer.start()
            _, status, usage = os.wait4(process.pid, 0)
            killer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            later = usage.ru_utime + usage.ru_stime - (used or after)
            memory = usage.ru_maxrss / (1 << 10 if sys.platform == "linux" else 1 << 20)
            output.seek(0)
            said.seek(0)
            # The run folder is written and the figures of what there is are left out: a quarter of a second more.
            check(process.returncode == 130 and within(later, 1.25) and (slow or most is None or memory < most),
                  f"{arguments} interrupted after {after} s: {process.returncode} after {later:.2f} s, {memory:.0f} MiB: {said.read()[:200]}")
            if "--json" in arguments and "--names" not in arguments:
                check(json.load(output)["error"]["exit_code"] == 130, f"{arguments}: no JSON")

    def interrupted(*arguments):
        heard(2 if slow else 0.5, *arguments, most=None)

    def written(name, text):
        path = pathlib.Path(folder) / (name + ".toml")
        path.write_text(text)
        return str(path)

    # Closed forms of many states, factorisations of many rows: each of them takes seconds at once.
    if not slow:
        for after in (0.5, 2):
            heard(after, "run", "--engine", "exact", written("chain", CHAIN % 100), "--until", "1000", "-o", str(runs / f"exact-100-{after}"))
            heard(after, "run", "--engine", "exact", written("chain", CHAIN % 170), "-o", str(runs / f"exact-170-{after}"))
            heard(after, "compare", written("chain", CHAIN % 170))
            heard(after, "compare", written("balls", BALLS % 300))
            heard(after, "run", written("ring", MANY % (1000, "", FREE, RING)), "--until", "1000", "-o", str(runs / f"ring-{after}"), most=1024)
        heard(1.5, "run", written("bent", MANY % (400, "", 'kinetic = "sum(i = 1 to n, x[i]\'^2*(2 + sin(x[i])))"\npotential = "sum(i = 1 to n, x[i])"',
                                                 HELD.replace("to n", "to n - 1") % "sin(x[i]) - x[i+1]")), "--until", "1000", "-o", str(runs / "bent"))
        heard(0.6, "impact", written("unequal", MANY % (150, "", 'kinetic = "sum(i = 1 to n, x[i]\'^2/2*(1 + 1e6*mod(i, 2)))"', """[[contact]]
name = "c"
each = "i = 1 to n - 1"
gap = "x[i+1] - x[i]"
impact = { type = "poisson", restitution = 0.5, stiffness = "10^mod(7*i, 13)", exponent = 3 }
[variants.struck]
"x[1]'" = 1
""")), "--variant", "struck")
        # A function of time that touches zero at every turn and never changes its sign is searched to the end of the run.
        heard(0.3, "run", written("touches", BODY + FORCE % "sign(2 - cos(1000*t) - cos(1000*t))" + "[run]\nuntil = 100000\n"), "-o", str(runs / "touches"))
        heard(0.3, "compare", written("held", MANY % (1200, "", FREE, HELD % SPARSE)))
        heard(0.7, "dither", written("shaken", CHAIN.replace("[run]", '[[friction]]\nname = "f"\nslip = "x[1]\' - 1 - sin(50*t)"\nnormal = 1\n'
                                                                     'law = { mu = "0.3 + 0.1*exp(-speed)" }\n[run]') % 300))
        # A friction law of many terms is asked often by averages, bisections, maps and pictures, and always hears.
        for law in ('mu = "%s"', 'type = "lugre", mu = "%s", stiffness = 1e7, damping = 1', 'type = "elastoplastic", mu = "%s", stiffness = 1e7, damping = 1, breakaway = 1e-8',
                    'type = "penalty", mu = "%s", stiffness = 1e7, damping = 1'):
            long = written("long-law", BODY + '[[friction]]\nname = "f"\nslip = "x\' - 1 - sin(50*t)"\nnormal = 1\nlaw = { '
                           + law % "0.3 + sum(i = 1 to 450, exp(-i*speed))/1000" + " }\n[run]\nuntil = 1\n")
            heard(0.15, "dither", long)
        heard(0.15, "plot", "--law", long, "-o", str(runs / "law"))
        check(not (runs / "law").exists(), "an interrupted picture leaves nothing")
        heard(0.15, "dither", long, "--speeds", "0:1:100000")
    # What is too large for closed forms is refused before it begins, and left to the other engine.
    for name, text in (("chain", CHAIN % 500),
                       ("loads", BODY + FORCE % "sum(i = 1 to 3000, sin(i*t))" + "[run]\nuntil = 1\n"),
                       ("steps", BODY + FORCE % "sum(i = 1 to 12000, step(x - i))" + "[run]\nuntil = 1\n")):
        got, out, err, used = run("run", "--engine", "exact", written(name, text), "-o", str(runs / ("refused-" + name)))
        check(got == 3 and "too large for closed forms" in err and within(used, 2), f"exact {name}: exit {got}, {used:.2f} s: {err[-300:]}")
    got, out, err, used = run("run", "--engine", "auto", written("chain", CHAIN % 200), "--until", "0.1", "--json", "-o", str(runs / "auto"))
    check(got == 0 and json.loads(out)["engine"] in ("event", "auto: event"), f"auto: exit {got}: {err[-300:]}{out[:300]}")

    interrupted("run", "--work", "1e6", str(source / "tests/trials/G05-prime-12.toml"), "--until", "1", "-o", str(runs / "compiled"))
    interrupted("run", str(source / "gallery/impact-oscillator/model.toml"), "--until", "1e9", "-o", str(runs / "endless"))
    interrupted("run", "--engine", "exact", str(source / "gallery/press/model.toml"), "--until", "1e9", "--set", "n=0", "--set", "q0=0", "-o", str(runs / "exact"))

    # Inside a decision, too, and inside a collision; what cannot be decided is refused, and what is open costs nothing.
    crowd = pathlib.Path(folder) / "crowd.toml"
    crowd.write_text(ROUGH % (18, 18, 18, 18, 0.3))
    interrupted("run", str(crowd), "-o", str(runs / "crowd"))
    check(json.loads((runs / "crowd" / "run.json").read_text())["end"]["reason"] == "interrupted", "a decision that was left")
    interrupted("run", str(crowd), "--resume", str(runs / "crowd"), "-o", str(runs / "crowd"))
    crowd.write_text((ROUGH % (200, 200, 200, 20, 0.3)))
    got, out, err, used = run("run", str(crowd), "-o", str(runs / "crowd-refused"))
    check(got == 4 and "at most" in out + err, f"too many contacts: exit {got}, {used:.2f} s: {(out + err)[-300:]}")
    crowd.write_text((ROUGH % (100, 100, 100, 20, 0.3)).replace('gap = "x[i]"', 'gap = "x[i] + 1"'))
    got, out, err, used = run("run", str(crowd), "-o", str(runs / "crowd-open"))
    check(got == 0, f"open contacts: exit {got}, {used:.2f} s: {(out + err)[-300:]}")

    friction = str(source / "gallery/dither-square/model.toml")
    rod = str(source / "gallery/rod-impact/model.toml")
    endless = str(source / "gallery/impact-oscillator/model.toml")
    prime = str(source / "tests/trials/G05-prime-12.toml")
    interrupted("check", "--work", "1e6", prime)
    interrupted("explain", "--json", "--work", "1e6", prime)
    interrupted("dither", friction, "--speeds", "0:1:100000")
    interrupted("dither", "--json", friction, "--map", "speed=0.1:0.8:1000,s0=1:2:900")
    interrupted("dither", friction, "--simulate", "--until", "30", "--set", "Om=1e4")
    interrupted("impact", rod, "--sweep", "mu=0:1:1000000")
    interrupted("impact", rod, "--sweep", "mu=0:1:1000000", "-o", str(runs / "sweep.csv"))
    check(not list(runs.glob("*sweep.csv*")), "an interrupted sweep leaves a file")
    interrupted("compare", "--json", endless, "--until", "1e9")
    own = pathlib.Path(folder) / "own" / "endless"
    own.mkdir(parents=True)
    (own / "model.toml").write_text(pathlib.Path(endless).read_text())
    (own / "reference.toml").write_text('[[value]]\nlabel = "a"\ncolumn = "t"\nuntil = 1e9\nat = 1\nexact = 1\n')
    interrupted("verify", "--json", str(own))
    # The sums of a reference are work like those of a model, and are heard in; variants that were not looked at are not wrong.
    sums = [f'[[value]]\nlabel = "l"\ncolumn = "x"\nat = 1\nexact = "sum(i=1 to 66000,sin(i+{i}))"\n' for i in range(500)]
    (own / "model.toml").write_text(BODY + "[run]\nuntil = 2\n")
    (own / "reference.toml").write_text("".join(sums))
    got, out, err, used = run("verify", str(own))
    check(got == 5 and "the reference is too large" in out and within(used, 4), f"sums in a reference: exit {got}, {used:.2f} s: {out[-300:]}")
    many = written("many-variants", BODY + "[parameters]\np = 0\n" + FORCE % "p" + "[variants]\n" + "".join(f"v{i} = {{ p = {i} }}\n" for i in range(20000)))
    if not slow:
        heard(0.08, "verify", str(own))
        heard(0.3, "check", "--work", "1000", many)
        heard(0.3, "check", "--json", "--work", "1000", many)
    # A sweep is streamed: twenty times as many points take no more memory.
    def largest(*arguments):
        """MiB of a whole run."""
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            process = subprocess.Popen([program, *arguments], cwd=folder, stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        check(process.returncode == 0, f"{arguments}: exit {process.returncode}")
        return usage.ru_maxrss / (1 << 10 if sys.platform == "linux" else 1 << 20)

    few, many_points = (largest("impact", rod, "--sweep", f"mu=0:1:{n}", "-o", str(runs / f"sweep-{n}.csv")) for n in (300, 6000))
    check(slow or many_points < few + 2, f"a sweep of 6000 points takes {many_points:.1f} MiB, one of 300 {few:.1f}")
    check(len((runs / "sweep-6000.csv").read_text().splitlines()) > 6000, "a sweep writes all its points")
    # Neither does a picture of ten times as many rows.
    for n in (20000, 200000):
        (runs / f"rows-{n}").mkdir()
        (runs / f"rows-{n}" / "trajectory.csv").write_text("t,x,x'\n" + "".join(f"{i},{i % 7},{i % 3}\n" for i in range(n)))
    few, many_points = (largest("plot", str(runs / f"rows-{n}")) for n in (20000, 200000))
    check(slow or many_points < few + 4, f"a picture of 200000 rows takes {many_points:.1f} MiB, one of 20000 {few:.1f}")

    # A jump in a range of a few bits is between neighbours, and halved no further.
    got, out, err, used = run("dither", friction, "--speeds", "0.4999999999999999:0.5000000000000001:3")
    check(got == 0 and within(used, 5), f"dither at a jump: exit {got}, {used:.2f} s")
    # A huge ratio is bounded work.
    got, out, err, used = run("dither", str(source / "gallery/elastoplastic/model.toml"), "--set", "W=1e6")
    check(got == 0 and "nan" not in out and within(used, 5), f"dither W=1e6: exit {got}, {used:.2f} s: {out[-300:]}")

    # What happens before t never depends on how long the run is: the first impact by its closed form.
    for trial, engine, ends, wanted in (("G01-exact-through-floor", "exact", ("1", "1e3", "1e5"), 2e-4 / (0.1 + math.sqrt(0.01 + 2e-4 * 9.81))),
                                        ("G02-fall", "event", ("1", "1e4", "2e9"), (1 + math.sqrt(1 + 9.81)) / 9.81)):
        for until in ends:
            got, out, err, used = run("run", str(source / f"tests/trials/{trial}.toml"), "--engine", engine, "--until", until, "--json", "-o",
                                      str(runs / f"{trial}-{until}"))
            first = json.loads(out)["events"][0] if got == 0 else {"kind": err, "time": math.nan}
            check(first["kind"] == "impact" and abs(first["time"] - wanted) < 1e-9 * wanted, f"{trial} until {until}: {first}, not {wanted}")

    # The same holds for whole lists of events, of stick and slip and of the press that runs ten thousand times longer than it is looked at.
    cut = pathlib.Path(folder) / "press-cut.toml"
    cut.write_text((source / "gallery/press/model.toml").read_text().replace("[run]\n", "[run]\nmax_events = 30\n"))
    for name, path, engine, ends in (("sign", source / "gallery/belt/model-sign.toml", "event", ("3", "10", "30")),
                                     ("first-order", source / "gallery/belt/model-first-order.toml", "event", ("3", "10", "30")),
                                     ("press", cut, "exact", ("3", "20", "2e5")), ("press", cut, "event", ("3", "20", "2e5"))):
        lists = []
        for until in ends:
            got, out, err, used = run("run", str(path), "--engine", engine, "--until", until, "--json", "-o", str(runs / f"list-{name}-{engine}-{until}"))
            check(got in (0, 4), f"{name} until {until}: exit {got}: {err[-300:]}")
            lists.append([(event["kind"], event["where"], event["time"]) for event in json.loads(out)["events"]])
        for longer in lists[1:]:
            # The very last ones belong to the end of the shorter run.
            pairs = [(a, b) for a, b in zip(lists[0], longer) if a[2] < 2.9]
            check(len(pairs) > 0 and all(a[:2] == b[:2] and abs(a[2] - b[2]) < 1e-6 for a, b in pairs), f"{name} by {engine}: the list changes with until: {lists[0]} {longer}")

    # Names of any length are cut.
    path = pathlib.Path(folder) / "long.toml"
    path.write_text(BODY + "[parameters]\n" + "y" * 30000 + ' = "zz' + "z" * 20000 + '"\n')
    got, out, err, used = run("check", str(path))
    check(got == 3 and len(err) < 3000, f"long names: {len(err)} characters")
    path.write_text(BODY + "[variants]\n" + "v" * 3000 + " = { y = 1 }\n")
    got, out, err, used = run("check", "--json", str(path))
    check(got == 3 and max(map(len, out.splitlines())) < 1000, f"long names in JSON: {max(map(len, out.splitlines()))} characters in one line")

    # What is wrong has a place, and a file that cannot be taken has its own code.
    SPATIAL = ('format = 1\n[coordinates]\nx = { velocity = 1 }\ny = 0\nz = 0\n[energy]\nkinetic = "(x\'^2 + y\'^2 + z\'^2)/2"\n'
               '[[contact]]\nname = "p"\ngap = "z"\nslip = ["x\'", "y\'"]\nfriction = 0.3\n')
    for name, text, place, message in (("spatial", SPATIAL, "9:8", "2 slip components"), ("large", "#" * (5 << 20), "1:4194305", "4 MiB"),
                                       ("many", "format = 1\na = [" + "1," * 1100000 + "]\n", "2:", "values"),
                                       ("load", 'format = 1\n[coordinates]\nx = { each = "i = 1 to 99999" }\n[matrices]\nload = [' + "1," * 30000 + "]\n", "3:14", LIMIT)):
        path = pathlib.Path(folder) / (name + ".toml")
        path.write_text(text)
        got, out, err, used = run("check", str(path))
        check(got == 3 and f"{name}.toml:{place}" in err and message in err, f"{name}: exit {got}: {err[:300]}")
    path = pathlib.Path(folder) / "circle.toml"
    path.symlink_to(path)
    got, out, err, used = run("check", str(path))
    check(got == 5 and "in a circle" in err, f"a link to itself: exit {got}: {err}")
    check(run("run", str(source / "gallery/press/model.toml"), "-o", str(runs / "bare"))[0] == 0, "press runs")
    (runs / "bare" / "state.json").unlink()
    (runs / "bare" / "trajectory.csv").write_text("t,nothing\n0,1\n1,2\n")
    got, out, err, used = run("plot", str(runs / "bare"), "-o", str(runs / "figures"))
    check(got == 5 and not out and "there is no column" in err, f"plot without a picture: exit {got}: {out}{err}")

print(f"{len(files)} files, {len(failures)} failures")
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
