#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays simulated runs, and has their traces checked by check_history.py.

    check_runs.py PROGRAM [SEEDS]
"""
import os
import subprocess
import sys
import tempfile

import check_history


def check_seed(program, seed, folder):
    trace = os.path.join(folder, f"{seed}.jsonl")
    subprocess.run([program, "--seeds", str(seed), "--ticks", "200", "--trace", trace,
                    "--print-digest"], check=True, stdout=subprocess.DEVNULL)
    with open(trace, encoding="utf-8") as lines:
        return check_history.check(lines), os.path.getsize(trace)


def main(program, seeds=12):
    wrong = 0
    size = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, int(seeds) + 1):
            problems, trace_size = check_seed(program, seed, folder)
            size += trace_size
            for problem in problems:
                print(f"seed {seed}: {problem}")
            wrong += bool(problems)
    # A trace of nothing would be right, too.
    return 1 if wrong or size < 1_000 * int(seeds) else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: check_runs.py PROGRAM [SEEDS]")
    sys.exit(main(*sys.argv[1:]))
