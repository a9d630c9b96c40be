#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A room includes private headers of its own and of the rooms before it, by their plain names. No part beneath the driver
includes the public facade over all of them, and behaviours write no bits of their own.

Where each file is compiled by itself, include paths refuse what goes against the order of rooms. A batch holds files
of several rooms and has the paths of all, so the order is tested here, too."""
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"]', re.MULTILINE)
FACADE = "replayout/netdriver/net_driver.h"
WIRE_CODE = re.compile(r"\b(BitReader|BitWriter|PacketBuilder|Bunch\w*|bit_(?:reader|writer)\.h)\b")
FILES_MAX = 30
ROOMS_IN = ("reflection/src", "replayout/src", "netdriver/src", "netdriver/behaviours/src", "netdriver/unet/src",
            "netdriver/transports", "bench", "tests")
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


def rooms_of(floor):
    """In the order in which they may include each other."""
    return re.findall(r"^replayout_add_room\(\s*\w+ (\w+)", text_of(floor + "/CMakeLists.txt"), re.MULTILINE)


def room_faults(files, rooms):
    """files: the includes of a floor's private files, by room and name."""
    room_of = {name: room for room, name in files}
    return [f"{room}/{name} includes {header} of {room_of[header]}, which is a later room"
            for (room, name), includes in files.items() for quote, header in includes
            if quote == '"' and rooms.index(room_of.get(header, room)) > rooms.index(room)]


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


def sizes_of_rooms():
    """How many files each folder of sources has. Headers in include/ have a layout of their own, and files in
    compile_fail are data."""
    sizes = {}
    for folder in ROOMS_IN:
        for room, _, names in os.walk(os.path.join(ROOT, folder)):
            if "compile_fail" not in room:
                sizes[os.path.relpath(room, ROOT)] = sum(name.endswith((".h", ".cpp")) for name in names)
    return sizes


class IncludesTest(unittest.TestCase):
    def test_no_room_has_more_than_30_files(self):
        self.assertEqual({room: size for room, size in sizes_of_rooms().items() if size > FILES_MAX}, {})

    def test_private_headers_are_included_by_their_plain_names(self):
        faults = [fault for path in library_files() for fault in private_faults(path, includes_of(path))]
        self.assertEqual(faults, [])

    def test_rooms_include_no_later_room(self):
        for floor in ("replayout", "netdriver", "netdriver/behaviours"):
            source = floor + "/src/"
            files = {tuple(path[len(source):].split("/")): includes_of(path)
                     for path in library_files() if path.startswith(source)}
            rooms = rooms_of(floor)
            self.assertGreater(len(files), 2 * len(rooms), floor)
            self.assertEqual({room for room, _ in files}, set(rooms))
            self.assertEqual(room_faults(files, rooms), [])

    def test_no_part_of_the_driver_includes_the_facade(self):
        faults = [fault for path in library_files() for fault in facade_faults(path, includes_of(path))]
        self.assertEqual(faults, [])

    def test_behaviours_have_no_wire_code_of_their_own(self):
        faults = [fault for path in library_files() for fault in wire_faults(path, text_of(path))]
        self.assertEqual(faults, [])

    def test_these_rules_find_what_breaks_them(self):
        self.assertEqual(len(private_faults("a.cpp", [('"', "../b.h"), ('"', "rows/b.h"), ('"', "b.h")])), 2)
        self.assertEqual(len(private_faults("a.cpp", [("<", "../b.h"), ("<", "replayout/b.h")])), 1)
        early = {("a", "a.h"): [], ("b", "b.cpp"): [('"', "a.h"), ('"', "b.h"), ("<", "c.h")], ("b", "b.h"): []}
        self.assertEqual(room_faults(early, ["a", "b"]), [])
        self.assertEqual(len(room_faults(early, ["b", "a"])), 1)
        self.assertEqual(len(facade_faults("netdriver/src/containers/a.h", [("<", FACADE)])), 1)
        self.assertEqual(facade_faults("netdriver/src/driver/a.h", [("<", FACADE)]), [])
        self.assertEqual(len(wire_faults("netdriver/behaviours/src/a.cpp", "BitWriter writer(BitReader(x));")), 2)
        self.assertEqual(wire_faults("netdriver/src/a.cpp", "BitWriter"), [])


if __name__ == "__main__":
    unittest.main()
