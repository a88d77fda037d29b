#!/usr/bin/env python3
"""Ensembles give the same file whoever makes them: threads, parts, processes of mpirun, and what was killed and taken up again.
ensembles.py SOURCE PROGRAM [kills [kills under mpirun]]"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

source, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
kills_wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 50
rank_kills_wanted = int(sys.argv[4]) if len(sys.argv) > 4 else 3
gallery = source / "gallery"
failures = []
random.seed(5)

BALL = ["sweep", str(gallery / "bouncing-ball/model.toml"), "h=0.5:1.5:%d", "--collect",
        "max(h'), end(h), count(impact), impulse(ground), integral(h)"]
BELT = ["sweep", str(gallery / "belt/model.toml"), "mus=0.3:0.5:8", "x=-1:1:5", "--until", "40", "--collect",
        "max(x), end(x'), first(stick belt), rms(x'), period"]


def expect(condition, words):
    if not condition:
        failures.append(words)
        print("FAILED:", words)


def run(arguments, **more):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=600, **more)


def command(of, output, *more, members=300):
    return [word % members if "%d" in word else word for word in of] + ["-o", str(output), *more]


def threads(folder):
    for name, of in (("ball", BALL), ("belt", BELT)):
        tables = []
        for count in (1, 2, 7):
            table = folder / f"{name}{count}.csv"
            done = run(command(of, table, "-j", str(count)))
            expect(done.returncode == 0, f"{name} with {count} threads: {done.stderr}")
            tables.append(table.read_bytes())
        expect(tables[0] == tables[1] == tables[2], f"{name}: the number of threads changes the table")
        expect(len(tables[0].splitlines()) == (301 if name == "ball" else 41), f"{name}: lines of the table")
        expect(not list(folder.glob("*.members")), "records are left behind")


def kills(folder, wanted):
    members = 4000
    whole = folder / "whole.csv"
    expect(run(command(BALL, whole, "-j", "2", members=members)).returncode == 0, "the sweep that nobody kills")
    killed = 0
    turn = 0
    while killed < wanted and turn < 20:
        turn += 1
        table = folder / f"killed{turn}.csv"
        resume = []
        while True:
            process = subprocess.Popen([program, *command(BALL, table, "-j", "2", *resume, members=members)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                code = process.wait(random.uniform(0.005, 0.12) if killed < wanted else None)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
                # Killed at the very end, the table is whole and its records are gone: there is nothing to take up.
                resume = ["--resume"] if pathlib.Path(str(table) + ".members").exists() else []
                continue
            expect(code == 0, f"a sweep that was taken up ended with {code}")
            break
        expect(table.exists() and table.read_bytes() == whole.read_bytes(), f"{killed} kills change the table")
    expect(killed >= wanted, f"only {killed} kills")
    print(killed, "kills in", turn, "sweeps")


def interrupt(folder):
    table = folder / "interrupted.csv"
    process = subprocess.Popen([program, *command(BALL, table, "-j", "1", members=200000)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    expect(time.monotonic() - begin < 1, "an interrupt is not heard within a second")
    expect(process.returncode == 130, f"an interrupted sweep ends with {process.returncode}")
    expect("--resume" in said and "200000 runs" in said, f"what is said of an interrupt: {said}")
    expect(not table.exists(), "there is a table of a sweep that has not ended")
    again = run(command(BALL, table, members=200000))
    expect(again.returncode == 5 and "--resume" in again.stderr, "an unfinished sweep is begun again over its records")
    other = run(command(BALL, table, "--resume", members=200001))
    expect(other.returncode == 5 and "other members" in other.stderr, "other members are taken up: " + other.stderr)


def parts(folder):
    whole, joined = folder / "one.csv", folder / "joined.csv"
    run(command(BELT, whole))
    for part in (1, 2, 3):
        done = run(command(BELT, joined, "--part", f"{part}/3"))
        expect(done.returncode == 0, f"part {part}: {done.stderr}")
        if part == 2:
            early = run(["sweep", "--join", f"{joined}.1-of-3", f"{joined}.2-of-3", "-o", str(joined)])
            expect(early.returncode == 5 and "cannot be made yet" in early.stderr, "two of three parts are joined")
    done = run(["sweep", "--join", *(f"{joined}.{part}-of-3" for part in (1, 2, 3)), "-o", str(joined)])
    expect(done.returncode == 0 and joined.read_bytes() == whole.read_bytes(), "three parts make another table")


def ranks_of(parent):
    out = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == parent and os.path.realpath(entry / "exe") == os.path.realpath(program):
                out.append(int(entry.name))
        except OSError:
            continue
    return out


def has_processes():
    with open(program, "rb") as binary:
        return b"MPI_Fetch_and_op" in binary.read() and shutil.which("mpirun") is not None


def processes(folder):
    if not has_processes():
        print("without MPI: its processes are not tested")
        return
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4", program]
    whole, made = folder / "single.csv", folder / "made.csv"
    run(command(BELT, whole))
    done = subprocess.run([*mpirun, *command(BELT, made)], capture_output=True, text=True, timeout=300)
    expect(done.returncode == 0 and made.read_bytes() == whole.read_bytes(), "four processes make another table: " + done.stderr)
    members = 12000
    run(command(BALL, whole, members=members))
    table = folder / "ranks.csv"
    process = subprocess.Popen([*mpirun, *command(BALL, table, members=members)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    killed = False
    for _ in range(200):
        time.sleep(0.02)
        ranks = ranks_of(process.pid)
        if len(ranks) == 4 and pathlib.Path(str(table) + ".members").exists():
            time.sleep(0.15)
            try:
                os.kill(ranks[2], signal.SIGKILL)
                killed = True
            except ProcessLookupError:
                pass
            break
    process.wait(timeout=60)
    expect(killed and process.returncode != 0, "no process was killed in the middle")
    expect(not table.exists(), "there is a table although a process was killed")
    done = subprocess.run([*mpirun, *command(BALL, table, "--resume", members=members)], capture_output=True, text=True, timeout=300)
    expect(done.returncode == 0 and table.read_bytes() == whole.read_bytes(), "the table after a killed process: " + done.stderr)


def finish(process):
    """Waits for mpirun. One that loses a process while it starts may wait for ever although all others are gone, too."""
    alone = time.monotonic()
    while process.poll() is None:
        time.sleep(0.05)
        if ranks_of(process.pid):
            alone = time.monotonic()
        if time.monotonic() - alone > 10:
            process.kill()
            process.wait()
            return
    process.wait()


def rank_kills(folder, wanted):
    """One of four processes is killed at any time, again and again; what is taken up ends in the same file."""
    if not has_processes():
        return
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4", program]
    members, killed, sweeps = 12000, 0, 0
    whole = folder / "unkilled.csv"
    expect(run(command(BALL, whole, members=members)).returncode == 0, "the sweep that nobody kills")
    while killed < wanted and sweeps < wanted + 5:
        sweeps += 1
        table, attempts = folder / f"rank-killed{sweeps}.csv", 0
        records = pathlib.Path(str(table) + ".members")
        while not table.exists() and attempts < 200:
            attempts += 1
            resume = ["--resume"] if records.exists() else []
            process = subprocess.Popen([*mpirun, *command(BALL, table, *resume, members=members)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if killed < wanted:
                ranks = []
                while process.poll() is None and (len(ranks) < 4 or not records.exists()):
                    time.sleep(0.02)
                    ranks = ranks_of(process.pid)
                time.sleep(random.uniform(0, 0.6))
                try:
                    if len(ranks) == 4 and process.poll() is None:
                        os.kill(random.choice(ranks), signal.SIGKILL)
                        killed += 1
                except ProcessLookupError:
                    pass
            finish(process)
        expect(table.exists() and table.read_bytes() == whole.read_bytes(), f"{killed} killed processes change the table")
    expect(killed >= wanted, f"only {killed} processes killed")
    print(killed, "processes killed in", sweeps, "sweeps")


with tempfile.TemporaryDirectory() as name:
    place = pathlib.Path(name)
    threads(place)
    kills(place, kills_wanted)
    interrupt(place)
    parts(place)
    processes(place)
    rank_kills(place, rank_kills_wanted)
sys.exit(1 if failures else 0)
