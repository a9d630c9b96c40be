#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the tests took of the input path, and of the rest, from what gcovr counted.

    report.py GCOVR_JSON...

The input path is what reads bytes of peers and files, named file by file in input_path.txt. Each of its
branches that no test takes stands in left_out.txt with its reason: one that does not, or that is taken and
stands there all the same, is an error. Prints the input path by itself, last, where one sees it; see
docs/coverage.md.
"""
import collections
import fnmatch
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class Figures:
    """Lines and branches of one file: how many there are, how many were taken, and what was not."""

    def __init__(self):
        self.lines = self.lines_taken = self.branches = self.branches_taken = 0
        self.missed = collections.Counter()  # by the text of the line, as line numbers move
        self.places = collections.defaultdict(list)

    def add(self, other):
        self.lines += other.lines
        self.lines_taken += other.lines_taken
        self.branches += other.branches
        self.branches_taken += other.branches_taken

    def miss(self, number, text, count):
        self.missed[text] += count
        self.places[text].append(number)


def read_figures(report):
    with open(os.path.join(ROOT, report["file"]), encoding="utf-8") as source:
        texts = [line.strip() for line in source]
    figures = Figures()
    for line in report["lines"]:
        if line.get("gcovr/noncode"):
            continue
        number, branches = line["line_number"], line["branches"]
        taken = sum(1 for branch in branches if branch["count"])
        figures.lines += 1
        figures.lines_taken += line["count"] > 0
        figures.branches += len(branches)
        figures.branches_taken += taken
        # A line without a branch that nobody came to counts as one.
        missed = len(branches) - taken if branches else int(line["count"] == 0)
        if missed:
            figures.miss(number, texts[number - 1], missed)
    return figures


def read_input_path(name):
    """Patterns."""
    with open(os.path.join(HERE, name), encoding="utf-8") as lines:
        patterns = [line.strip() for line in lines]
    return [pattern for pattern in patterns if pattern and not pattern.startswith("#")]


def read_left_out(name):
    """Entries (path, text) -> (count, may be less), and problems: entries without a reason."""
    entries, problems, reason = {}, [], False
    with open(os.path.join(HERE, name), encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line:
                reason = False
            elif line.startswith("#"):
                reason = True
            else:
                match = re.fullmatch(r"([^:]+): (\d+)(\??): (.*)", line)
                if not match or not reason:
                    problems.append(f"{name}:{number}: no entry, or one without a reason")
                    continue
                path, count, less, text = match.groups()
                entries[path, text] = (int(count), bool(less))
    return entries, problems


def compare(figures_by_path, input_path, entries):
    problems = []
    seen = set()
    for path in input_path:
        figures = figures_by_path[path]
        for text, count in figures.missed.items():
            listed, less = entries.get((path, text), (0, False))
            seen.add((path, text))
            if count > listed or (count < listed and not less):
                places = ", ".join(str(number) for number in figures.places[text])
                problems.append(f"{path}: {count}: {text}    (line {places}; listed {listed})")
    for (path, text), (count, less) in entries.items():
        if (path, text) not in seen and not less:
            problems.append(f"{path}: {count}: {text}    (listed, but taken or gone)")
    return problems


def percent(part, whole):
    return f"{100 * part / whole:6.1f} %" if whole else "     -  "


def print_table(title, figures_by_path, paths):
    total = Figures()
    print(f"\n{title}\n{'lines':>8} {'':8} {'branches':>10} {'':8} {'not taken':>9}")
    for path in paths:
        figures = figures_by_path[path]
        total.add(figures)
        print(row(figures, path))
    print(row(total, "all of it"))
    return total


def row(figures, name):
    return (f"{figures.lines:8} {percent(figures.lines_taken, figures.lines)}"
            f" {figures.branches:10} {percent(figures.branches_taken, figures.branches)}"
            f" {figures.branches - figures.branches_taken:9}  {name}")


def main(arguments):
    figures_by_path = {}
    for name in arguments:
        with open(name, encoding="utf-8") as report:
            for file in json.load(report)["files"]:
                if file["lines"]:
                    figures_by_path[file["file"]] = read_figures(file)
    entries, problems = read_left_out("left_out.txt")
    input_path = []
    for pattern in read_input_path("input_path.txt"):
        found = sorted(fnmatch.filter(figures_by_path, pattern))
        input_path += [path for path in found if path not in input_path]
        if not found:
            problems.append(f"input_path.txt: {pattern}: nothing of it was counted")
    rest = sorted(set(figures_by_path) - set(input_path))
    print_table("The rest", figures_by_path, rest)
    total = print_table("The input path", figures_by_path, input_path)
    listed = sum(count for count, _ in entries.values())
    problems += compare(figures_by_path, input_path, entries)
    missing = total.branches - total.branches_taken
    print(f"\ninput path: {total.branches_taken} of {total.branches} branches taken, {missing} not;"
          f" {listed} places stand in left_out.txt with a reason")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
