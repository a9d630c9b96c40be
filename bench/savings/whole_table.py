#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./run savings measures, with the instructions of the same ticks beside it, and curves of both.

The program replayout_savings measures times, and writes them to a file. Then Callgrind plays each row twice, with
sharing off and with bundles, and counts the instructions of the server's dispatch and flush in 20 ticks (of a row of
joins: in all ticks of the join). Counts are exact: the same in each run of one build (see ../instructions/count.py).
"""
import argparse
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "instructions"))

import count  # noqa: E402
import counts  # noqa: E402

LEVELS = ("off", "bundles")
TABLE_CONNECTIONS = 64


def tick_instructions(lines, ticks):
    """Of a tick. `lines`: what Callgrind wrote; its second part is what was played between the two ends of phases."""
    parts = counts.read_parts(lines)
    if len(parts) < 2:
        raise counts.CountError(f"Callgrind wrote {len(parts)} parts, and at least 2 are needed")
    return sum(parts[1]["inclusive"][function] for function in counts.TICK_FUNCTIONS) / ticks


def count_row(program, row, connections, level, traces, folder):
    """Instructions of a tick, exact."""
    started = time.monotonic()
    name = "".join(letter if letter.isalnum() else "_" for letter in row) + f"_{connections}_{level}"
    out, report = (os.path.join(folder, name + end) for end in (".callgrind", ".json"))
    for path in (out, report):
        if os.path.exists(path):
            os.remove(path)
    done = subprocess.run(
        [*count.CALLGRIND, "--callgrind-out-file=" + out, program, "--count", row, "--count-level", level,
         "--connections", str(connections), "--json", report, *(word for trace in traces for word in ("--trace", trace))],
        env=count.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise counts.CountError(f"{row}, {level}: ended with {done.returncode}:\n{done.stdout}")
    with open(report, encoding="utf-8") as file:
        ticks = json.load(file)["ticks"]
    with open(out, encoding="utf-8", errors="replace") as file:
        counted = tick_instructions(file, ticks)
    os.remove(out)  # megabytes
    count.say(f"  {row}, {connections} connections, {level}: {counted:,.0f} instructions, "
              f"{time.monotonic() - started:.0f} s")
    return counted


def shown_connections(rows):
    """As savings_tables() has it: 64 where it was measured, else the most."""
    found = sorted({cell["connections"] for row in rows for cell in row["cells"]})
    return TABLE_CONNECTIONS if TABLE_CONNECTIONS in found else found[-1]


def add_instructions(figures, program, traces, folder, jobs):
    """Into the cells with shown_connections(): `instructions`, by level."""
    os.makedirs(folder, exist_ok=True)
    connections = shown_connections(figures["rows"])
    cells = [(row["row"], cell) for row in figures["rows"] for cell in row["cells"]
             if cell["connections"] == connections and "error" not in cell]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        counted = {(row, level): pool.submit(count_row, program, row, connections, level, traces, folder)
                   for row, _ in cells for level in LEVELS}
        for row, cell in cells:
            cell["instructions"] = {level: counted[row, level].result() for level in LEVELS}


def table_text(figures):
    """Times and instructions of a tick, with shown_connections()."""
    connections = shown_connections(figures["rows"])
    head = ("row", "off, us", "bundles, us", "off / bundles", "off, instr.", "bundles, instr.", "off / bundles")
    lines = [head]
    for row in figures["rows"]:
        for cell in row["cells"]:
            if cell["connections"] != connections or "error" in cell:
                continue
            times = [cell["times"][level]["median_ns"] for level in LEVELS]
            counted = [cell["instructions"][level] for level in LEVELS] if "instructions" in cell else None
            lines.append((row["row"], f"{times[0] / 1e3:,.1f}", f"{times[1] / 1e3:,.1f}", f"{times[0] / times[1]:.2f}",
                          *((f"{counted[0]:,.0f}", f"{counted[1]:,.0f}", f"{counted[0] / counted[1]:.2f}")
                            if counted else ("-", "-", "-"))))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join([f"A server's tick, {connections} connections: medians of times, exact instructions", ""] + [
        "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths)))
        for line in lines])


def curves(figures):
    """A program for gnuplot: off / bundles by connections, a curve for each row."""
    rows = [(row["row"], [(cell["connections"], cell["gain"]) for cell in row["cells"] if "gain" in cell])
            for row in figures["rows"]]
    rows = [(name, points) for name, points in rows if points]
    text = ("set terminal svg size 1000,700 dynamic background 'white'\nset output 'savings.svg'\n"
            "set title 'How many times as long a server\\'s tick takes with sharing off'\n"
            "set xlabel 'connections'\nset ylabel 'off / bundles'\nset logscale xy 2\nset grid\n"
            "set key outside right\n")
    text = text.replace("server\\'s", "server''s")  # gnuplot's way to write it
    plots = []
    for i, (name, points) in enumerate(rows):
        text += f"$data{i} << END\n" + "".join(f"{x} {y}\n" for x, y in points) + "END\n"
        plots.append(f"$data{i} with linespoints title '{name.replace(chr(39), chr(39) * 2)}' noenhanced")
    return text + "plot " + ", ".join(plots) + "\n" if plots else ""


def write_csv(path, figures):
    """A line for each subject, as the program writes it, with `instructions` where they were counted."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("row", "connections", "subject", "median_ns", "p10_ns", "p90_ns", "bytes_per_connection",
                      "instructions"))
        for row in figures["rows"]:
            for cell in row["cells"]:
                counted = cell.get("instructions", {})
                for subject, found in cell.get("times", {}).items():
                    times = [f"{found[key]:.0f}" for key in ("median_ns", "p10_ns", "p90_ns")]
                    instructions = f"{counted[subject]:.0f}" if subject in counted else ""
                    out.writerow([row["row"], cell["connections"], subject, *times,
                                  f"{cell['bytes_per_connection']:.1f}", instructions])


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="./run savings", description=__doc__, formatter_class=argparse.RawTextHelpFormatter, allow_abbrev=False,
        epilog="All other options are those of the program: ./run savings --help lists them.")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--instructions", action="store_true", help="count the instructions, too: 15 minutes more")
    parser.add_argument("--plot", action="store_true",
                        help="draw the curves into build/savings/savings.svg, with gnuplot")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="counts at a time (one a processor)")
    parser.add_argument("--trace", action="append", default=[], help="a recording, as a row")
    parser.add_argument("--json", default="", help="write all figures to this file")
    parser.add_argument("--csv", default="", help="write them as a table")
    options, rest = parser.parse_known_args(arguments)
    return options, rest


def run(options, rest):
    folder = os.path.join(ROOT, "build", "savings")
    os.makedirs(folder, exist_ok=True)
    measured = os.path.join(folder, "measured.json")
    traces = [os.path.abspath(trace) for trace in options.trace]
    done = subprocess.run([options.program, *rest, "--json", measured,
                           *(word for trace in traces for word in ("--trace", trace))], check=False)
    if done.returncode > 1:
        return done.returncode
    with open(measured, encoding="utf-8") as file:
        figures = json.load(file)
    if options.instructions:
        add_instructions(figures, options.program, traces, os.path.join(folder, "counted"), options.jobs)
        print("\n" + table_text(figures))
    if options.plot:
        with open(os.path.join(folder, "savings.gnuplot"), "w", encoding="utf-8") as file:
            file.write(curves(figures))
        subprocess.run(["gnuplot", "savings.gnuplot"], cwd=folder, check=True)
        count.say("drawn: build/savings/savings.svg")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=2)
            file.write("\n")
    if options.csv:
        write_csv(options.csv, figures)
    return done.returncode


def main(arguments):
    options, rest = parse(arguments)
    try:
        return run(options, rest)
    except (counts.CountError, OSError, subprocess.CalledProcessError) as error:
        count.say(f"savings: {error}")
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
