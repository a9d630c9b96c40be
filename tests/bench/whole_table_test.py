#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./run savings adds to its times: instructions of the right phase, one table, a file of all figures, curves."""
import csv
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench", "savings"))

import whole_table  # noqa: E402
from counts import CountError  # noqa: E402

PART = """part: {number}
events: Ir
summary: {total}
fn=replayout_counted_flush
0 {flush}
fn=replayout_counted_dispatch
0 {dispatch}
fn=replayout_counted_call
0 5
totals: {total}
"""


def part(number, flush, dispatch):
    return PART.format(number=number, flush=flush, dispatch=dispatch, total=flush + dispatch + 5)


def cell(connections, gain):
    return {"connections": connections, "times": {
        "off": {"median_ns": 1_000.0 * gain, "p10_ns": 1.0, "p90_ns": 2.0},
        "bundles": {"median_ns": 1_000.0, "p10_ns": 1.0, "p90_ns": 2.0}}, "gain": gain, "bytes_per_connection": 7.0}


def figures():
    return {"rows": [{"row": "a row, 2 % lost", "cells": [cell(1, 0.9), cell(64, 8.0)]},
                     {"row": "one that failed", "cells": [{"connections": 64, "error": "a client was closed"}]}]}


class WholeTableTest(unittest.TestCase):
    def test_instructions_are_those_of_dispatch_and_flush_between_the_two_ends_of_phases(self):
        lines = (part(1, 900, 9_000) + part(2, 300, 100) + part(3, 7, 7)).splitlines()
        self.assertEqual(whole_table.tick_instructions(lines, 20), 20.0)

    def test_a_run_that_ended_no_phase_is_refused(self):
        with self.assertRaises(CountError):
            whole_table.tick_instructions(part(1, 1, 1).splitlines(), 20)

    def test_the_table_has_times_and_instructions_of_64_connections_and_leaves_out_what_failed(self):
        found = figures()
        self.assertEqual(whole_table.shown_connections(found["rows"]), 64)
        found["rows"][0]["cells"][1]["instructions"] = {"off": 50_000.0, "bundles": 10_000.0}
        text = whole_table.table_text(found)
        self.assertIn("8.00", text)
        self.assertIn("50,000", text)
        self.assertIn("5.00", text)
        self.assertNotIn("one that failed", text)

    def test_a_cell_without_counts_has_dashes(self):
        self.assertIn("-", whole_table.table_text(figures()).splitlines()[-1])

    def test_the_file_has_a_line_for_each_subject(self):
        found = figures()
        found["rows"][0]["cells"][1]["instructions"] = {"off": 50_000.0, "bundles": 10_000.0}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.csv")
            whole_table.write_csv(path, found)
            with open(path, encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual([(row["connections"], row["subject"], row["instructions"]) for row in rows],
                         [("1", "off", ""), ("1", "bundles", ""), ("64", "off", "50000"), ("64", "bundles", "10000")])

    def test_curves_draw_each_row_that_was_measured(self):
        text = whole_table.curves(figures())
        self.assertIn("64 8.0", text)
        self.assertIn("title 'a row, 2 % lost'", text)
        self.assertNotIn("failed", text)


if __name__ == "__main__":
    unittest.main()
