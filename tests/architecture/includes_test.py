#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Private headers are included by their plain names, so that include paths decide who sees them, no part beneath the
driver includes the public facade over all of them, and behaviours write no bits of their own."""
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"]', re.MULTILINE)
FACADE = "replayout/netdriver/net_driver.h"
WIRE_CODE = re.compile(r"\b(BitReader|BitWriter|PacketBuilder|Bunch\w*|bit_(?:reader|writer)\.h)\b")
ABOVE_THE_FACADE = ("netdriver/src/driver/", "netdriver/src/playing/")


def library_files():
    for floor in ("reflection", "replayout", "netdriver"):
        for folder, _, names in os.walk(os.path.join(ROOT, floor)):
            for name in names:
                if name.endswith((".h", ".cpp")):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def includes_of(path):
    return INCLUDE.findall(text_of(path))


def private_faults(path, includes):
    return [f"{path} includes \"{name}\": a private header is included by its plain name"
            for quote, name in includes if quote == '"' and "/" in name] + [
            f"{path} includes <{name}>: no path goes upwards" for quote, name in includes if quote == "<" and ".." in name]


def facade_faults(path, includes):
    if not path.startswith("netdriver/src/") or path.startswith(ABOVE_THE_FACADE):
        return []
    return [f"{path} includes the facade {FACADE}, which is above it" for _, name in includes if name == FACADE]


def wire_faults(path, text):
    """Behaviours send what they have through the driver: properties, calls and structs that serialize themselves."""
    if not path.startswith("netdriver/behaviours/"):
        return []
    return [f"{path} has {word}: bits are written and read by replayout" for word in sorted(set(WIRE_CODE.findall(text)))]


class IncludesTest(unittest.TestCase):
    def test_private_headers_are_included_by_their_plain_names(self):
        faults = [fault for path in library_files() for fault in private_faults(path, includes_of(path))]
        self.assertEqual(faults, [])

    def test_no_part_of_the_driver_includes_the_facade(self):
        faults = [fault for path in library_files() for fault in facade_faults(path, includes_of(path))]
        self.assertEqual(faults, [])

    def test_behaviours_have_no_wire_code_of_their_own(self):
        faults = [fault for path in library_files() for fault in wire_faults(path, text_of(path))]
        self.assertEqual(faults, [])

    def test_these_rules_find_what_breaks_them(self):
        self.assertEqual(len(private_faults("a.cpp", [('"', "../b.h"), ('"', "rows/b.h"), ('"', "b.h")])), 2)
        self.assertEqual(len(private_faults("a.cpp", [("<", "../b.h"), ("<", "replayout/b.h")])), 1)
        self.assertEqual(len(facade_faults("netdriver/src/containers/a.h", [("<", FACADE)])), 1)
        self.assertEqual(facade_faults("netdriver/src/driver/a.h", [("<", FACADE)]), [])
        self.assertEqual(len(wire_faults("netdriver/behaviours/src/a.cpp", "BitWriter writer(BitReader(x));")), 2)
        self.assertEqual(wire_faults("netdriver/src/a.cpp", "BitWriter"), [])


if __name__ == "__main__":
    unittest.main()
