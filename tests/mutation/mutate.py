#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants faults into the files that read bytes of peers and files, and looks whether a test fails.

All mutants are compiled in once, in a copy of the sources in build/mutate, and switched on one by
one. Those of the class `limit` weaken a check or a bound: each must be killed, or stand with its
reason in tests/mutation/survivors.txt. See docs/mutation.md.
"""
import argparse
import collections
import os
import random
import sys
import time

import mutated_files
from workshop import Judge, Workshop

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KINDS = ("guard", "relation", "call", "bound", "number", "condition", "statement")


def say(text):
    print(text, file=sys.stderr, flush=True)


def read_survivors(lines):
    """{(file, before, after, nth): reason}. A file's name stands alone, at the left; then for each
    mutant its line before, behind `->` its line after, and why it may live."""
    known, counts = {}, collections.Counter()
    file = before = after = None
    for line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not line[0].isspace():
            file = text
        elif text.startswith("-> "):
            after = text[3:]
        elif text.startswith("why: "):
            words = (file, before, after)
            known[(*words, counts[words])] = text[5:]
            counts[words] += 1
        else:
            before = text
    return known


def is_known(mutant, known):
    """The reason, or None. Where it stands once it holds for all lines of the same words."""
    file, before, after, nth = mutant.key
    if (file, before, after, 1) in known:
        return known.get(mutant.key)
    return known.get((file, before, after, 0))


def not_negative(kind):
    def number(text):
        value = kind(text)
        if value < 0:
            raise ValueError
        return value
    number.__name__ = "number from 0 on"
    return number


def options():
    parser = argparse.ArgumentParser(
        prog="./run mutate", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE",
                        help="part of a file's name, or a group of files (decode); all without")
    parser.add_argument("--list", action="store_true", help="list the mutants, build nothing")
    parser.add_argument("--other", type=not_negative(int), default=0, metavar="N",
                        help="besides, N by chance of those that weaken no limit (0)")
    parser.add_argument("--kind", choices=KINDS, action="append", help="these alone; may be repeated")
    parser.add_argument("--seed", type=int, default=1, help="of the chance (1)")
    parser.add_argument("--all", action="store_true", help="of all classes, all of them")
    parser.add_argument("--seconds", type=not_negative(float), default=20, metavar="N",
                        help="of tests for one mutant, the fastest first; of those that live and"
                             "\nhave no reason to, then all; 0: all of each (20)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at a time")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build", "mutate"),
                        help="where the copy is made and built (build/mutate)")
    parser.add_argument("--verbose", action="store_true", help="tell of those that are killed, too")
    return parser


def files_meant(words):
    names = {}
    for group, _, files in mutated_files.GROUPS:
        for file in files:
            if not words or any(word == group or word in file for word in words):
                names[file] = group
    return names


def choose(workshop, arguments):
    """Those of the class `limit`, and what is asked for of the others."""
    meant = files_meant(arguments.files)
    mutants = [mutant for name, file in workshop.files.items() if name in meant
               for mutant in file.mutants
               if not arguments.kind or mutant.kind in arguments.kind]
    others = [mutant for mutant in mutants if not mutant.is_limit]
    if not arguments.all:
        count = min(arguments.other, len(others))
        others = random.Random(arguments.seed).sample(others, count)
    chosen = [mutant for mutant in mutants if mutant.is_limit] + others
    return sorted(chosen, key=lambda mutant: (mutant.file, mutant.line, mutant.number))


def print_counts(counts):
    width = max(len(file) for file in counts)
    print(f"\n{'':{width}}  limits killed known alive   others killed alive")
    total = collections.Counter()
    for file, count in [*sorted(counts.items()), ("in all", total)]:
        print(f"{file:{width}}  {count['limit']:6} {count['limit killed']:6} {count['known']:5} "
              f"{count['alive']:5}   {count['other']:6} {count['other killed']:6} "
              f"{count['other alive']:5}")
        total.update(count)


def judge_twice(workshop, records, mutants, known, seconds):
    """What lives through the fastest tests, and has no reason to, is played all others as well."""
    all_tests = Judge(workshop, records)
    for mutant, verdict in Judge(workshop, records, seconds).judge_all(mutants):
        is_open = verdict == "survived" and mutant.is_limit and not is_known(mutant, known)
        yield mutant, all_tests.judge(mutant) if is_open and seconds > 0 else verdict


def report(results, known, is_verbose):
    """Prints what survived, and a table. How many of the class `limit` live without a reason."""
    counts = collections.defaultdict(collections.Counter)
    for mutant, verdict in results:
        count = counts[mutant.file]
        if verdict == "impossible":
            continue  # of types that have no such relation
        kind = "limit" if mutant.is_limit else "other"
        count[kind] += 1
        is_dead = verdict in ("killed", "timeout")
        reason = is_known(mutant, known) if mutant.is_limit else None
        count[f"{kind} killed"] += is_dead
        if not is_dead:
            state = "known" if reason else "alive" if mutant.is_limit else "other alive"
            count[state] += 1
        if is_verbose or (not is_dead and not reason):
            print(f"{kind} {mutant.kind}: {verdict}: {mutant}", flush=True)
        elif is_dead and reason:
            print(f"killed, and yet in survivors.txt: {mutant}")
    if counts:
        print_counts(counts)
    return sum(count["alive"] for count in counts.values())


def main(arguments):
    workshop = Workshop(ROOT, arguments.folder, mutated_files, arguments.jobs)
    if not files_meant(arguments.files):
        say("mutate: no file of tests/mutation/mutated_files.py is meant")
        return 2
    if arguments.list:
        for mutant in choose(workshop, arguments):
            print(f"{'limit' if mutant.is_limit else 'other'} {mutant.kind}: {mutant}")
        return 0
    started = time.monotonic()
    workshop.build(say)
    records = workshop.record(say)
    mutants = choose(workshop, arguments)
    say(f"{len(mutants)} mutants, built and recorded in {time.monotonic() - started:.0f} s")
    started = time.monotonic()
    with open(os.path.join(HERE, "survivors.txt"), encoding="utf-8") as file:
        known = read_survivors(file)
    results = judge_twice(workshop, records, mutants, known, arguments.seconds)
    alive = report(results, known, arguments.verbose)
    print(f"{alive} that weaken a limit live without a reason; judged in "
          f"{time.monotonic() - started:.0f} s")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(options().parse_args()))
