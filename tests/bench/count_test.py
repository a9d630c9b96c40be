#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Callgrind writes is read right, and what must fail does: growth, a row that is gone, a count that is none."""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench", "instructions"))

import count  # noqa: E402
import counts  # noqa: E402

PART = """part: {part}
desc: Trigger: --dump-before=replayout_phase_ends
positions: line
events: Ir
summary: {total}
ob=/bin/replayout_instructions
fl=???
fn=main
cfn=replayout_counted_flush
calls=10 0
0 {flush_with_calls}
fn=replayout_counted_flush
0 30
cfn=replayout::NetDriver::tick_flush(replayout::NetTime)
calls=10 0
0 {flush}
0 20
fn=replayout_counted_dispatch
0 40
cfn=replayout::NetDriver::tick_dispatch(replayout::NetTime)
calls=10 0
0 60
fn=replayout::NetDriver::tick_flush(replayout::NetTime)
0 900
+3 50
fn=replayout_counted_call
0 7

totals: {total}
"""


def part(number, flush, total=None):
    total = flush + 157 if total is None else total
    return PART.format(part=number, flush=flush, flush_with_calls=flush + 50, total=total)


def report(*names):
    return {"build": "x", "clients": 2, "phases": [{"name": name, "ticks": 10} for name in names]}


def phase(tick, **counters):
    return {"ticks": 10, "tick_instructions": tick, "call_instructions": 50, **counters}


def table_of(**figures):
    return {"w1": dict(figures)}


class ReadCallgrind(unittest.TestCase):
    def test_parts(self):
        parts = counts.read_parts((part(1, 1000) + part(2, 3000)).splitlines(keepends=True))
        phases = counts.phases_of(parts, report("join", "play"))
        self.assertEqual(phases["join"]["tick_instructions"], 1000 + 50 + 100)
        self.assertEqual(phases["play"]["tick_instructions"], 3000 + 50 + 100)
        self.assertEqual(phases["play"]["call_instructions"], 7)
        self.assertEqual(phases["play"]["ticks"], 10)

    def test_other_instructions(self):
        parts = counts.read_parts(part(1, 1000, total=1158).splitlines())
        with self.assertRaisesRegex(counts.CountError, "1158 instructions were collected, of which 1157"):
            counts.phases_of(parts, report("play"))

    def test_nothing_counted(self):
        with self.assertRaisesRegex(counts.CountError, "nothing was counted"):
            counts.phases_of(counts.read_parts(["part: 1", "summary: 0"]), report("play"))

    def test_missing_part(self):
        parts = counts.read_parts(part(1, 1000).splitlines())
        with self.assertRaisesRegex(counts.CountError, "1 parts, and there are 2 phases"):
            counts.phases_of(parts, report("join", "play"))

    def test_libc_of_a_processor(self):
        for name in ("__memcpy_avx_unaligned_erms", "__memmove_ssse3", "__strlen_evex", "__memset_sse2_unaligned_erms"):
            with self.subTest(name), self.assertRaisesRegex(counts.CountError, "HWCAPS"):
                counts.read_parts(["part: 1", "fn=" + name])
        counts.read_parts(["part: 1", "fn=__memmove_sse2_unaligned", "fn=memcpy@GLIBC_2.2.5", "fn=Codec::write_avx()"])


class Figures(unittest.TestCase):
    WORKLOAD = counts.Workload("w", counts.COLUMNS, "w_alone", "w_lossy")
    RUNS = {
        "w": (4, {"join": phase(8000, channels_opened=20), "play": phase(9000, records_lost=0)}),
        "w_alone": (0, {"still": phase(100), "play": phase(1000, objects_compared=50, records_lost=0)}),
        "w_lossy": (4, {"play": phase(9600, records_lost=3)}),
    }

    def test_columns(self):
        self.assertEqual(counts.figures_of(self.WORKLOAD, self.RUNS), {
            "tick": 900, "client": (9000 - 1000) / 4 / 10, "compared": 20, "open": (8000 - 100) / 20, "lost": 200, "calls": 5})

    def test_main_run_is_the_lossy_one(self):
        runs = dict(self.RUNS, w=self.RUNS["w_lossy"], w_lossy=self.RUNS["w"])
        runs["w"][1]["join"] = self.RUNS["w"][1]["join"]
        self.assertEqual(counts.figures_of(self.WORKLOAD, runs)["lost"], 200)

    def test_nothing_to_divide_by(self):
        runs = dict(self.RUNS, w=(4, {"join": phase(100, channels_opened=0), "play": phase(9000, records_lost=0)}))
        self.assertNotIn("open", counts.figures_of(self.WORKLOAD, runs))

    def test_each_run_is_the_programs(self):
        with open(os.path.join(ROOT, "bench", "instructions", "counted_runs.cpp"), encoding="utf-8") as file:
            source = file.read()
        for workload in counts.WORKLOADS:
            for run in counts.runs_of(workload):
                self.assertIn(f'{{"{run}", ', source)


class Gate(unittest.TestCase):
    BEFORE = {"w1": {"tick": 10000.0, "open": 200.0}, "battle_64": {"tick": 100.0}}

    def grown(self, percent):
        return dict(self.BEFORE, w1={"tick": 10000.0 * (1 + percent / 100), "open": 200.0})

    def test_same(self):
        verdict = counts.compare(self.BEFORE, self.BEFORE)
        self.assertEqual(verdict.problems, [])
        self.assertEqual(set(verdict.deltas.values()), {0.0})

    def test_two_percent(self):
        self.assertEqual(counts.compare(self.BEFORE, self.grown(1.99)).problems, [])
        self.assertEqual(counts.compare(self.BEFORE, self.grown(2.00)).problems, [])
        problems = counts.compare(self.BEFORE, self.grown(2.01)).problems
        self.assertEqual(len(problems), 1)
        self.assertIn("w1, tick: grew by 2.01 %", problems[0])
        self.assertEqual(counts.compare(self.BEFORE, self.grown(-30)).problems, [])

    def test_row_is_gone(self):
        now = {"w1": {"tick": 10000.0}}
        self.assertEqual(len(counts.compare(self.BEFORE, now).problems), 2)
        self.assertEqual(len(counts.compare(self.BEFORE, now, skipped=["battle_64"]).problems), 1)

    def test_row_is_new(self):
        verdict = counts.compare(self.BEFORE, dict(self.BEFORE, walking={"tick": 5.0}))
        self.assertEqual(verdict.problems, [])
        self.assertEqual(verdict.news, [("walking", "tick")])

    def test_from_nothing(self):
        self.assertEqual(len(counts.compare(table_of(calls=0.0), table_of(calls=1.0)).problems), 1)
        self.assertEqual(counts.compare(table_of(calls=0.0), table_of(calls=0.0)).problems, [])
        # A difference of runs may be less than nothing.
        self.assertEqual(len(counts.compare(table_of(lost=-100.0), table_of(lost=-50.0)).problems), 1)

    def test_update(self):
        table = {"gcc": {"tf2_small": {"tick": 1.0}, "battle_64": {"tick": 2.0}}, "clang": {"w1": {"tick": 3.0}}}
        now = {"walking": {"tick": 5.0}, "w1": {"tick": 4.0}}
        written = counts.updated(table, "gcc", now, skipped=["tf2_small"])
        self.assertEqual(list(written["gcc"]), ["w1", "walking", "tf2_small"])
        self.assertEqual(written["clang"], table["clang"])


class Command(unittest.TestCase):
    """The whole command but for Callgrind: what a program of this build has counted is given."""
    FIGURES = {workload.name: {column: 1000.0 for column in workload.columns} for workload in counts.WORKLOADS}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.table = os.path.join(folder.name, "table.json")
        self.traces = os.path.join(folder.name, "traces")
        os.mkdir(self.traces)
        for workload in counts.WORKLOADS:
            if workload.recording:
                with open(os.path.join(self.traces, workload.recording), "wb"):
                    pass

    def play(self, figures, *arguments, parent=None, commit="0123456789abcdef"):
        def count_all(_program, workloads, *_):
            return "gcc 1", {workload.name: dict(figures[workload.name]) for workload in workloads
                             if workload.name in figures}

        out, said = io.StringIO(), io.StringIO()
        with mock.patch.object(count, "count_all", count_all), \
                mock.patch.object(count, "parent_commit", lambda: commit), \
                mock.patch.object(count, "count_parent", lambda *_: parent), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            status = count.main(["--table", self.table, "--traces", self.traces, *arguments])
        return status, out.getvalue() + said.getvalue()

    def with_growth(self, percent):
        figures = json.loads(json.dumps(self.FIGURES))
        figures["walking"]["open"] *= 1 + percent / 100
        return figures

    def test_table(self):
        self.assertEqual(self.play(self.FIGURES, "--update")[0], 0)
        self.assertEqual(self.play(self.FIGURES)[0], 0)
        status, text = self.play(self.with_growth(3))
        self.assertEqual(status, 1)
        self.assertIn("walking, open: grew by 3.00 %", text)
        self.assertIn("+3.00%", text)
        self.assertEqual(self.play(self.with_growth(1.9))[0], 0)
        self.assertEqual(self.play(self.with_growth(3), "--update")[0], 0)
        self.assertEqual(self.play(self.with_growth(3))[0], 0)

    def test_parent(self):
        status, text = self.play(self.FIGURES, parent=("gcc 1", self.FIGURES))
        self.assertEqual(status, 0)
        self.assertIn("building and counting 0123456789ab instead", text)
        self.assertEqual(self.play(self.with_growth(3), parent=("gcc 1", self.FIGURES))[0], 1)
        self.assertFalse(os.path.exists(self.table))

    def test_no_parent(self):
        status, text = self.play(self.FIGURES, commit=None)
        self.assertEqual(status, 2)
        self.assertIn("fetch one more", text)
        status, text = self.play(self.FIGURES, parent=None)
        self.assertEqual(status, 0)
        self.assertIn("nothing to compare with", text)

    def test_recordings_that_are_not_there(self):
        self.assertEqual(self.play(self.FIGURES, "--update")[0], 0)
        os.remove(os.path.join(self.traces, "tf2_small.rtr.gz"))
        status, text = self.play(self.FIGURES)
        self.assertEqual(status, 0)
        self.assertIn("tf2_small: left out", text)
        self.assertEqual(self.play(self.FIGURES, "--update")[0], 0)
        self.assertIn("tf2_small", count.read_table(self.table)["gcc 1"])

    def test_some_workloads(self):
        self.assertEqual(self.play(self.FIGURES, "--update")[0], 0)
        self.assertEqual(self.play(self.with_growth(3), "w1", "battle_64")[0], 0)
        self.assertEqual(self.play(self.with_growth(3), "walking")[0], 1)

    def test_a_workload_that_is_gone(self):
        self.assertEqual(self.play(self.FIGURES, "--update")[0], 0)
        with mock.patch.object(counts, "WORKLOADS", counts.WORKLOADS[1:]):
            status, text = self.play(self.FIGURES)
        self.assertEqual(status, 1)
        self.assertIn("w1, tick: was counted before", text)
        status, text = self.play({name: row for name, row in self.FIGURES.items() if name != "w1"})
        self.assertEqual(status, 2)
        self.assertIn("lacks a run of w1", text)


class Run(unittest.TestCase):
    def command_of(self, root):
        """What is run for the run `w1` of a tree that lies at `root`."""
        ran = []

        def play(command, cwd, **_):
            ran.append(command)
            for name, text in (("callgrind.out", part(1, 1000)), ("report.json", json.dumps(report("play")))):
                with open(os.path.join(cwd, name), "w", encoding="utf-8") as file:
                    file.write(text)
            for name, target in (("program", "bin/replayout_instructions"), ("traces", "traces")):
                self.assertEqual(os.readlink(os.path.join(cwd, name)), os.path.join(root, target))
            return mock.Mock(returncode=0)

        with mock.patch.object(count.subprocess, "run", play), contextlib.redirect_stderr(io.StringIO()):
            count.count_run(os.path.join(root, "bin", "replayout_instructions"), "w1", os.path.join(root, "traces"),
                            os.path.join(root, "runs"))
        return ran

    def test_lengths_of_paths(self):
        """They would decide which blocks malloc() has left, and what the calls of a game cost."""
        with tempfile.TemporaryDirectory() as folder:
            here, there = (self.command_of(os.path.join(folder, name)) for name in ("a", "a_longer_name"))
            self.assertEqual(here, there)
            self.assertNotIn(folder, " ".join(here[0]))


class Table(unittest.TestCase):
    def test_kept_table(self):
        """Every row that is checked in is one that is counted."""
        columns = {workload.name: workload.columns for workload in counts.WORKLOADS}
        for rows in count.read_table(count.TABLE).values():
            for name, row in rows.items():
                self.assertEqual(list(row), list(columns[name]))
                self.assertTrue(all(figure > 0 for figure in row.values()))


if __name__ == "__main__":
    unittest.main()
