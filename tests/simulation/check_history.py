#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The history checker: an oracle that has nothing in common with the engine, not even a language.

It reads a trace, one JSON object a line, in the order of events, and nothing else. What is written
is a version, a number above 0 that no other write has; 0 is what a property holds that was never
written. One pass, linear in the lines.

  {"e": "made",    "o": 7}                     the server has object 7
  {"e": "gone",    "o": 7}                     and has it no more; 7 is never made again
  {"e": "write",   "o": 7, "p": "a", "v": 12}  property a is version 12 from now on
  {"e": "owner",   "o": 7, "c": 2}             it is for client 2; 0: for nobody
  {"e": "secret",  "p": "b"}                   property b is for owners alone
  {"e": "join",    "c": 2}                     a connection; its number is never used again
  {"e": "leave",   "c": 2}
  {"e": "show",    "c": 2, "o": 7}             the client has the object
  {"e": "hide",    "c": 2, "o": 7}
  {"e": "see",     "c": 2, "o": 7, "p": "a", "v": 12}
  {"e": "call",    "o": 7, "n": 3}             a reliable call to all, numbered upwards
  {"e": "ran",     "c": 2, "o": 7, "n": 3}
  {"e": "relevant", "c": 2, "o": 7}            to be shown when all is healed
  {"e": "healed"}                              now every client equals the server

"t", the tick, may stand in any of them and is told with what is wrong.

    check_history.py TRACE...

Exits with 0 if all is right, with 1 if something is wrong, with 2 if there is nothing to read.
"""
import json
import sys


class History:
    def __init__(self):
        self.objects = {}  # object: {property: version}
        self.gone = set()
        self.written = {}  # version: (object, property)
        self.owners = {}  # object: every client that ever owned it
        self.owner = {}
        self.secrets = set()
        self.clients = {}  # client: {object: {property: version}}
        self.left = set()
        self.calls = {}  # object: the last number
        self.ran = {}  # (client, object): the last number
        self.relevant = {}  # client: objects
        self.is_healed = False

    def take(self, event):
        """What is wrong with it, or None."""
        rule = getattr(self, "take_" + str(event.get("e")), None)
        return f"no such event: {event}" if rule is None else rule(event)

    def take_made(self, event):
        if event["o"] in self.objects or event["o"] in self.gone:
            return "an id is used again"
        self.objects[event["o"]] = {}

    def take_gone(self, event):
        if self.objects.pop(event["o"], None) is None:
            return "what is not there ends"
        self.gone.add(event["o"])

    def take_write(self, event):
        if event["o"] not in self.objects:
            return "a write to what is not there"
        if event["v"] <= 0 or event["v"] in self.written:
            return "a version is used again"
        self.written[event["v"]] = (event["o"], event["p"])
        self.objects[event["o"]][event["p"]] = event["v"]

    def take_owner(self, event):
        self.owner[event["o"]] = event["c"]
        self.owners.setdefault(event["o"], set()).add(event["c"])

    def take_secret(self, event):
        self.secrets.add(event["p"])

    def take_join(self, event):
        if event["c"] in self.clients or event["c"] in self.left:
            return "a connection is used again"
        self.clients[event["c"]] = {}

    def take_leave(self, event):
        if self.clients.pop(event["c"], None) is None:
            return "who is not there leaves"
        self.left.add(event["c"])

    def shown_by(self, event):
        return self.clients.get(event["c"], {}).get(event["o"])

    def take_show(self, event):
        if event["c"] not in self.clients:
            return "who is not there is shown something"
        if event["o"] not in self.objects and event["o"] not in self.gone:
            return "a client shows what never was"
        if self.shown_by(event) is not None:
            return "shown twice"
        self.clients[event["c"]][event["o"]] = {}

    def take_hide(self, event):
        if self.shown_by(event) is None:
            return "what is not shown is hidden"
        del self.clients[event["c"]][event["o"]]

    def take_see(self, event):
        shown = self.shown_by(event)
        if shown is None:
            return "an update of what is not shown"
        if self.written.get(event["v"]) != (event["o"], event["p"]):
            return "a value that the server never had there"
        if event["v"] <= shown.get(event["p"], 0):
            return "a value goes back, or is told twice"
        if event["p"] in self.secrets and event["c"] not in self.owners.get(event["o"], ()):
            return "what is for the owner is seen by another"
        shown[event["p"]] = event["v"]

    def take_call(self, event):
        if event["n"] <= self.calls.get(event["o"], 0):
            return "a call's number is used again"
        self.calls[event["o"]] = event["n"]

    def take_ran(self, event):
        key = (event["c"], event["o"])
        if self.shown_by(event) is None:
            return "a call of what is not shown"
        if event["n"] > self.calls.get(event["o"], 0):
            return "a call that nobody made"
        if event["n"] <= self.ran.get(key, 0):
            return "a call runs twice, or out of order"
        self.ran[key] = event["n"]

    def take_relevant(self, event):
        self.relevant.setdefault(event["c"], set()).add(event["o"])

    def take_healed(self, _):
        self.is_healed = True
        for client, shown in self.clients.items():
            if set(shown) != self.relevant.get(client, set()):
                return f"client {client} shows other objects than it is to"
            for number, seen in shown.items():
                for name, version in self.objects.get(number, {}).items():
                    if name in self.secrets and self.owner.get(number) != client:
                        continue
                    if seen.get(name, 0) != version:
                        return f"client {client}, object {number}: {name} is not the server's"


def check(lines, is_whole=True):
    """All that is wrong, as text. `is_whole`: a trace must end healed."""
    history = History()
    problems = []
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
            problem = history.take(event)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            event, problem = {}, f"not an event: {error!r}"
        if problem is not None:
            problems.append(f"line {number}, tick {event.get('t', '?')}: {problem}")
    if is_whole and not history.is_healed:
        problems.append("the trace ends before all is healed")
    return problems


def main(paths):
    if not paths or paths[0].startswith("-"):
        print("usage: check_history.py TRACE...", file=sys.stderr)
        return 2
    is_good = True
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.readlines()
        except (OSError, UnicodeDecodeError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 2
        problems = check(lines)
        for problem in problems:
            print(f"{path}: {problem}")
        if not problems:
            print(f"{path}: {len(lines):,} events, nothing wrong")
        is_good = is_good and not problems
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
