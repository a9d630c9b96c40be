#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A good trace passes, and each planted fault is found, by its own words and no others' mistake."""
import json
import unittest

from check_history import check

GOOD = [
    {"e": "secret", "p": "b"},
    {"e": "join", "c": 1}, {"e": "join", "c": 2},
    {"e": "made", "o": 7}, {"e": "owner", "o": 7, "c": 2},
    {"e": "write", "o": 7, "p": "a", "v": 1}, {"e": "write", "o": 7, "p": "b", "v": 2},
    {"e": "made", "o": 8}, {"e": "write", "o": 8, "p": "a", "v": 3},
    {"e": "show", "c": 1, "o": 7}, {"e": "see", "c": 1, "o": 7, "p": "a", "v": 1},
    {"e": "show", "c": 2, "o": 7}, {"e": "see", "c": 2, "o": 7, "p": "b", "v": 2},
    {"e": "show", "c": 2, "o": 8}, {"e": "see", "c": 2, "o": 8, "p": "a", "v": 3},
    {"e": "call", "o": 7, "n": 1}, {"e": "call", "o": 7, "n": 2},
    {"e": "ran", "c": 2, "o": 7, "n": 1}, {"e": "ran", "c": 2, "o": 7, "n": 2},
    {"e": "write", "o": 7, "p": "a", "v": 4}, {"e": "see", "c": 1, "o": 7, "p": "a", "v": 4},
    {"e": "see", "c": 2, "o": 7, "p": "a", "v": 4},
    {"e": "gone", "o": 8}, {"e": "hide", "c": 2, "o": 8},
    {"e": "relevant", "c": 1, "o": 7}, {"e": "relevant", "c": 2, "o": 7},
    {"e": "healed"},
]
HIDE = GOOD.index({"e": "hide", "c": 2, "o": 8})
LATE = GOOD.index({"e": "relevant", "c": 1, "o": 7})


def problems(events):
    return check([json.dumps(event) for event in events])


def with_event(event, place=LATE):
    return GOOD[:place] + [event] + GOOD[place:]


def without(event):
    return [other for other in GOOD if other != event]


class CheckHistory(unittest.TestCase):
    def test_good(self):
        self.assertEqual(problems(GOOD), [])

    def test_planted(self):
        planted = {
            "an id is used again": with_event({"e": "made", "o": 8}),
            "what is not there ends": with_event({"e": "gone", "o": 8}),
            "a write to what is not there": with_event({"e": "write", "o": 8, "p": "a", "v": 9}),
            "a version is used again": with_event({"e": "write", "o": 7, "p": "a", "v": 4}),
            "a connection is used again": with_event({"e": "join", "c": 1}),
            "who is not there leaves": with_event({"e": "leave", "c": 3}),
            "who is not there is shown": with_event({"e": "show", "c": 3, "o": 7}),
            "shows what never was": with_event({"e": "show", "c": 1, "o": 9}),
            "shown twice": with_event({"e": "show", "c": 1, "o": 7}),
            "what is not shown is hidden": with_event({"e": "hide", "c": 1, "o": 8}),
            "an update of what is not shown": without({"e": "show", "c": 2, "o": 8}),
            "the server never had there":
                with_event({"e": "see", "c": 1, "o": 7, "p": "a", "v": 3}),
            "a value goes back": with_event({"e": "see", "c": 1, "o": 7, "p": "a", "v": 1}),
            "for the owner is seen by another":
                with_event({"e": "see", "c": 1, "o": 7, "p": "b", "v": 2}),
            "a call's number is used again": with_event({"e": "call", "o": 7, "n": 2}),
            "a call of what is not shown": with_event({"e": "ran", "c": 1, "o": 8, "n": 1}, HIDE),
            "a call that nobody made": with_event({"e": "ran", "c": 2, "o": 7, "n": 3}),
            "runs twice, or out of order": with_event({"e": "ran", "c": 2, "o": 7, "n": 1}),
            "shows other objects": without({"e": "hide", "c": 2, "o": 8}),
            "b is not the server's": without({"e": "see", "c": 2, "o": 7, "p": "b", "v": 2}),
            "a is not the server's": with_event({"e": "write", "o": 7, "p": "a", "v": 9}),
            "before all is healed": GOOD[:-1],
            "no such event": with_event({"e": "nonsense"}),
            "not an event": with_event({"e": "made"}),
        }
        for words, events in planted.items():
            with self.subTest(words):
                found = problems(events)
                self.assertTrue(any(words in problem for problem in found), found)

    def test_early(self):
        """A client cannot have a value before the server wrote it."""
        seen = GOOD.index({"e": "see", "c": 1, "o": 7, "p": "a", "v": 4})
        events = GOOD[:seen - 1] + [GOOD[seen], GOOD[seen - 1]] + GOOD[seen + 1:]
        self.assertIn("the server never had there", problems(events)[0])

    def test_not_json(self):
        self.assertIn("not an event", check(["{"])[0])


if __name__ == "__main__":
    unittest.main()
