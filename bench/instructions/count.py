#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions of a server in fixed workloads, and fails where one grew by more than 2 %.

Callgrind plays the program replayout_instructions, run by run. It collects within dispatch and flush of the server and
the calls that the game makes of it; within the transport it does not. Nothing in a run depends on time, chance or the
machine: seeds are fixed, libc's choice of memcpy() is, and so are the sizes of caches that it would ask for. So two
runs count the same, to the last instruction. The figures are those of one compiler and one libc, by which the table is
keyed. Where it has no row for them, the commit before is built and counted as well, and compared with.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

import counts
import processor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TABLE = os.path.join(HERE, "table.json")
PROGRAM = "replayout_instructions"

CALLGRIND = (
    "valgrind", "--tool=callgrind", "--quiet", "--collect-atstart=no", "--toggle-collect=replayout_counted_*",
    "--toggle-collect=replayout_uncounted_*", "--dump-before=replayout_phase_ends", "--combine-dumps=yes",
    "--compress-strings=no", "--compress-pos=no")


def say(text):
    print(text, file=sys.stderr, flush=True)


def environment():
    """Nothing of the caller's but where programs and libraries are."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "LC_ALL": "C", "LD_BIND_NOW": "1", "GLIBC_TUNABLES": processor.TUNABLES}


def count_run(program, run, traces, folder):
    """The build of the program, and the clients and phases of the run."""
    started = time.monotonic()
    # How long a path is would decide which blocks malloc() has left: the program finds all under the same short names.
    place = os.path.join(folder, run)
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    for name, target in (("program", program), ("traces", traces)):
        os.symlink(target, os.path.join(place, name))
    out, report = os.path.join(place, "callgrind.out"), os.path.join(place, "report.json")
    done = subprocess.run(
        [*CALLGRIND, "--callgrind-out-file=callgrind.out", "./program", "--run", run, "--traces", "traces", "--json",
         "report.json"],
        env=environment(), cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise counts.CountError(f"run {run} ended with {done.returncode}:\n{done.stdout}")
    with open(report, encoding="utf-8") as file:
        told = json.load(file)
    with open(out, encoding="utf-8", errors="replace") as file:
        phases = counts.phases_of(counts.read_parts(file), told)
    os.remove(out)  # megabytes
    say(f"  {run}: {time.monotonic() - started:.0f} s")
    return told["build"], (told["clients"], phases)


def runs_of_program(program):
    """Names; those of a commit before may be others."""
    return subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def count_all(program, workloads, traces, folder, jobs):
    """The build, and {workload: {column: figure}} of those workloads whose runs the program has."""
    os.makedirs(folder, exist_ok=True)
    there = set(runs_of_program(program))
    workloads = [workload for workload in workloads if there.issuperset(counts.runs_of(workload))]
    names = list(dict.fromkeys(run for workload in workloads for run in counts.runs_of(workload)))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(lambda run: count_run(program, run, traces, folder), names))
    runs = dict(zip(names, (run for _, run in done)))
    build = done[0][0] if done else ""
    return build, {workload.name: counts.figures_of(workload, runs) for workload in workloads}


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def parent_commit():
    """What this tree was made from: HEAD where something is not committed yet, else the one before. None: unknown."""
    return git("rev-parse", "--verify", "--quiet", "HEAD" if git("status", "--porcelain") else "HEAD^")


def count_parent(commit, preset, workloads, traces, folder, jobs):
    """As count_all(), of another commit, which is built for it; None: it has no such program."""
    if git("cat-file", "-e", commit + ":bench/instructions/main.cpp") is None:
        return None
    tree = os.path.join(folder, "parent")
    git("worktree", "remove", "--force", tree)
    shutil.rmtree(tree, ignore_errors=True)
    if git("worktree", "add", "--detach", tree, commit) is None:
        raise counts.CountError(f"git could not check {commit} out into {tree}")
    try:
        for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset, "--target", PROGRAM]):
            subprocess.run(command, cwd=tree, stdout=sys.stderr, check=True)
        program = os.path.join(tree, "build", preset, "bin", PROGRAM)
        return count_all(program, workloads, traces, os.path.join(folder, "of_parent"), jobs)
    finally:
        git("worktree", "remove", "--force", tree)


def read_table(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_table(path, table):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(table, file, indent=2)
        file.write("\n")


def figures_before(options, build, workloads, traces):
    """Those to compare with; None: there are none, which was said."""
    known = read_table(options.table).get(build)
    if known is not None:
        say(f"compared with {os.path.relpath(options.table, ROOT)}: {build}")
        return known
    commit = parent_commit()
    if commit is None:
        raise counts.CountError(f"the table has no row for {build}, and there is no commit before this one to count "
                                "instead: fetch one more, or say --update")
    say(f"the table has no row for {build}: building and counting {commit[:12]} instead")
    parent = count_parent(commit, options.preset, workloads, traces, options.folder, options.jobs)
    if parent is None:
        say(f"{commit[:12]} cannot count: nothing to compare with")
        return None
    return parent[1]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="./run instructions", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="only these: " + ", ".join(
        workload.name for workload in counts.WORKLOADS))
    parser.add_argument("--update", action="store_true", help="write what was counted into the table")
    parser.add_argument("--traces", default=os.path.join(ROOT, "..", "shared", "traces"),
                        help="the folder with the recordings (../shared/traces); those that are not there are left out")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (one a processor)")
    parser.add_argument("--preset", default="release", help=argparse.SUPPRESS)
    parser.add_argument("--table", default=TABLE, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.folder = os.path.join(ROOT, "build", "instructions")
    unknown = set(options.workloads) - {workload.name for workload in counts.WORKLOADS}
    if unknown:
        parser.error("no workload: " + ", ".join(sorted(unknown)))
    return options


def choose_workloads(options, traces):
    """Those to count, and the names of all others."""
    chosen, skipped = [], []
    for workload in counts.WORKLOADS:
        if options.workloads and workload.name not in options.workloads:
            skipped.append(workload.name)
        elif workload.recording and not os.path.exists(os.path.join(traces, workload.recording)):
            say(f"{workload.name}: left out, {os.path.join(traces, workload.recording)} is not there")
            skipped.append(workload.name)
        else:
            chosen.append(workload)
    return chosen, skipped


def run(options):
    traces = os.path.abspath(options.traces)
    workloads, skipped = choose_workloads(options, traces)
    if not workloads:
        raise counts.CountError("there is nothing to count")
    program = os.path.join(ROOT, "build", options.preset, "bin", PROGRAM)
    build, now = count_all(program, workloads, traces, os.path.join(options.folder, "runs"), options.jobs)
    for workload in workloads:
        if workload.name not in now:
            raise counts.CountError(f"{PROGRAM} lacks a run of {workload.name}: see its --list")
    if options.update:
        table = read_table(options.table)
        verdict = counts.compare(table.get(build, {}), now, skipped)
        write_table(options.table, counts.updated(table, build, now, skipped))
        print(counts.table_text(now, verdict.deltas))
        say(f"written: {os.path.relpath(options.table, ROOT)}: {build}")
        return 0
    before = figures_before(options, build, workloads, traces)
    verdict = counts.compare(before, now, skipped) if before is not None else counts.Verdict({}, [], [])
    print(counts.table_text(now, verdict.deltas))
    for problem in verdict.problems:
        say("instructions: " + problem)
    if verdict.problems:
        say("instructions: where that is what it must cost, say why in the commit, with ./run instructions --update")
    return 1 if verdict.problems else 0


def main(arguments):
    options = parse(arguments)
    try:
        return run(options)
    except (counts.CountError, OSError, subprocess.CalledProcessError) as error:
        say(f"instructions: {error}")
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
