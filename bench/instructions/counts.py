# SPDX-License-Identifier: MIT
"""Instructions of a server: from what Callgrind and the server counted to rows, and from rows to a verdict.

A run (counted_runs.h) has phases, and Callgrind writes one part of its file for each. A workload is a row of the
table; its figures are quotients and differences of phases of one to three runs, so each is exact:

    tick       dispatch and flush of the phase `play`, a tick
    client     the same without that of the run without clients, a client and tick
    compared   dispatch and flush of the run without clients, an object that it compared
    open       dispatch and flush of the phase `join`, less as many ticks of the phase `still` of the run without
               clients, a channel that it opened
    lost       what the run with loss takes more than the one without, a record that it lost
    calls      what the game called between dispatch and flush, a tick
"""
import collections
import re

COLUMNS = ("tick", "client", "compared", "open", "lost", "calls")
GROWTH_MAX_PERCENT = 2.0

# Names that counted_tick.h has as well.
TICK_FUNCTIONS = ("replayout_counted_dispatch", "replayout_counted_flush")
CALL_FUNCTION = "replayout_counted_call"

# Which variant of memcpy() a libc takes depends on the processor, and so would the figures.
BY_PROCESSOR = re.compile(r"^__?[a-z]\w*_(?:avx|evex|ssse3|sse4|\w*erms)\w*$")


class CountError(Exception):
    """A sentence that says what to do."""


# `alone`, `other_loss`: names of runs; the second may be None. It is the same with loss where the main one has none, and
# without where it has. `recording`: the file that it plays, if any. A game that makes no calls has no such column.
Workload = collections.namedtuple("Workload", "name columns alone other_loss recording", defaults=(None, None))

WORKLOADS = (
    Workload("w1", COLUMNS, "w1_alone", "w1_lossy"),
    Workload("battle_1", ("tick", "client", "compared", "open", "calls"), "battle_alone"),
    Workload("battle_64", ("tick", "client", "open", "lost", "calls"), "battle_alone", "battle_64_lossless"),
    Workload("battle_capped", ("tick", "client", "open", "calls"), "battle_alone"),
    Workload("shared_serializer", COLUMNS[:-1], "shared_serializer_alone", "shared_serializer_lossy"),
    Workload("walking", ("tick", "client", "compared", "open", "calls"), "walking_alone"),
    Workload("tf2_small", COLUMNS[:-1], "tf2_small_alone", "tf2_small_lossless", "tf2_small.rtr.gz"),
    Workload("rl_gridiron", COLUMNS, "rl_gridiron_alone", "rl_gridiron_lossless", "rl_gridiron.rtr.gz"),
)


def runs_of(workload):
    """The names of its runs, the main one first."""
    return [name for name in (workload.name, workload.alone, workload.other_loss) if name is not None]


def read_parts(lines):
    """Of each part of a file of Callgrind its total, and what was counted in each function with all that it called.
    Written with --compress-strings=no --compress-pos=no, one event, one kind of position."""
    parts = []
    function = None
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("part: "):
            parts.append({"total": None, "inclusive": collections.Counter()})
            function = None
        elif line.startswith("fn="):
            function = line[3:]
            if BY_PROCESSOR.match(function):
                raise CountError(f"{function} was chosen for this processor: count.py must switch it off in HWCAPS")
        elif line.startswith("summary: ") and parts:
            parts[-1]["total"] = int(line.split()[1])
        elif line[:1].isdigit() and function is not None:
            # A line of cost: of the function itself, or, after a line `calls=`, of what it called.
            parts[-1]["inclusive"][function] += int(line.split()[1])
    return parts


def phases_of(parts, report):
    """{phase: its counters, with `tick_instructions` and `call_instructions`}."""
    phases = report["phases"]
    if len(parts) < len(phases):
        raise CountError(f"Callgrind wrote {len(parts)} parts, and there are {len(phases)} phases")
    counted = {}
    for part, phase in zip(parts, phases):
        tick = sum(part["inclusive"][function] for function in TICK_FUNCTIONS)
        calls = part["inclusive"][CALL_FUNCTION]
        if tick == 0 or part["total"] is None:
            raise CountError(f"phase {phase['name']}: nothing was counted: is counted_tick.cpp still called?")
        if tick + calls != part["total"]:
            raise CountError(f"phase {phase['name']}: {part['total']} instructions were collected, of which "
                             f"{tick + calls} are the server's: collection was not switched off somewhere")
        counted[phase["name"]] = dict(phase, tick_instructions=tick, call_instructions=calls)
    return counted


def quotient(instructions, count):
    """None: there is nothing to divide by."""
    return round(instructions / count, 1) if count else None


def figures_of(workload, runs):
    """{column: figure} of a workload. `runs`: {name: (clients, phases)}; those of runs_of() are there."""
    clients, main = runs[workload.name]
    play, join = main["play"], main["join"]
    alone, still = (runs[workload.alone][1][name] for name in ("play", "still"))
    idle = still["tick_instructions"] / still["ticks"] * join["ticks"]
    found = {
        "tick": quotient(play["tick_instructions"], play["ticks"]),
        "client": quotient(play["tick_instructions"] - alone["tick_instructions"], clients * play["ticks"]),
        "compared": quotient(alone["tick_instructions"], alone["objects_compared"]),
        "open": quotient(join["tick_instructions"] - idle, join["channels_opened"]),
        "calls": quotient(play["call_instructions"], play["ticks"]),
    }
    if workload.other_loss:
        without, lossy = sorted((play, runs[workload.other_loss][1]["play"]), key=lambda phase: phase["records_lost"])
        found["lost"] = quotient(lossy["tick_instructions"] - without["tick_instructions"], lossy["records_lost"])
    return {column: found[column] for column in workload.columns if found[column] is not None}


def growth_percent(before, now):
    if before == now:
        return 0.0
    return (now - before) / abs(before) * 100 if before else float("inf")


# `deltas`: {(workload, column): percent} of all that both have; `problems`: sentences; `news`: what only `now` has.
Verdict = collections.namedtuple("Verdict", "deltas problems news")


def compare(before, now, skipped=()):
    """`before`, `now`: {workload: {column: figure}}. Fails what grew by more than 2 %, and what was counted before and
    is not now, but for the workloads in `skipped`."""
    verdict = Verdict({}, [], [])
    for workload in [*before, *(name for name in now if name not in before)]:
        if workload in skipped:
            continue
        olds, news = before.get(workload, {}), now.get(workload, {})
        for column in [*olds, *(name for name in news if name not in olds)]:
            if column not in news:
                verdict.problems.append(f"{workload}, {column}: was counted before, and is not any more")
            elif column not in olds:
                verdict.news.append((workload, column))
            else:
                percent = growth_percent(olds[column], news[column])
                verdict.deltas[workload, column] = percent
                if percent > GROWTH_MAX_PERCENT:
                    verdict.problems.append(f"{workload}, {column}: grew by {percent:.2f} %, from {olds[column]:,.1f} "
                                            f"to {news[column]:,.1f} instructions")
    return verdict


def updated(table, build, now, skipped=()):
    """The table with these rows of this build. Workloads in `skipped` keep those that they had; others that were
    not counted go."""
    kept = {name: row for name, row in table.get(build, {}).items() if name in skipped}
    order = [workload.name for workload in WORKLOADS]
    rows = {**kept, **now}
    return {**table, build: {name: rows[name] for name in sorted(rows, key=order.index)}}


def table_text(now, deltas):
    """For people: a row a workload, each figure with its growth, where that is known."""
    lines = [f"{'instructions':<18}" + "".join(f"{column:>24}" for column in COLUMNS)]
    for workload, row in now.items():
        cells = []
        for column in COLUMNS:
            cell = ""
            if column in row:
                percent = deltas.get((workload, column))
                cell = f"{row[column]:,.1f}" + ("      new" if percent is None else f" {percent:+7.2f}%")
            cells.append(f"{cell:>24}")
        lines.append(f"{workload:<18}" + "".join(cells))
    return "\n".join(lines)
