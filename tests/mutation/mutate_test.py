#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is a mutant and what weakens a limit; and that each, switched on where all are compiled in,
answers as its own text does. Its argument is the compiler to ask.

    mutate_test.py COMPILER
"""
import os
import subprocess
import sys
import tempfile
import unittest

import mutate
import mutated_files
from mutants import MutatedFile

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILER = sys.argv.pop() if len(sys.argv) > 1 else os.environ.get("CXX", "c++")

GUARDS = """// SPDX-License-Identifier: MIT
bool read(Reader& reader) {
    if (reader.count() > count_max || reader.failed()) {
        return false;
    }
    if (is_known) {
        ++known_;
    }
    return reader.left() == 0;
}
"""

# Of numbers alone, so that all of it can be played.
PLAYED = """// a sample
int total(int a, int b, bool c, bool d) {
    int sum = 7;
    int limit = std::min(a, b);
    if (a > b || (c && a != 2)) {
        return std::clamp<int>(a, 1, b + 3);
    }
    const bool is_right = d ? a <= 2 : a == b && c;
    if (const int rest = b - a; rest >= 3) {
        sum += std::max(rest, 4);
        close(sum);
    }
    for (int i = 0; i < b && spend(sum); ++i) {
        sum += limit + (is_right ? 0x10 : 0);
        if (!d) {
            break;
        }
    }
    return sum;
}
"""
HELPERS = """
inline void close(int& sum) { sum *= 2; }
inline bool spend(int& sum) { return ++sum < 40; }
"""
MAIN = """
#include <cstdio>
int main() {
    int wrong = 0;
    for (int n = 0; n < count; ++n) {
        int differs = 0;
        const int wrong_before = wrong;
        for (int i = 0; i < 100; ++i) {
            const int a = i % 5, b = i / 5 % 5;
            const bool c = i / 25 % 2 != 0, d = i / 50 != 0;
            mutant::chosen = n;
            const int schema = all::total(a, b, c, d);
            wrong += schema != alone[n](a, b, c, d) ? 1 : 0;
            mutant::chosen = mutant::off;
            wrong += all::total(a, b, c, d) != original::total(a, b, c, d) ? 1 : 0;
            // Whoever answers otherwise must have been recorded.
            mutant::chosen = mutant::recording;
            mutant::seen[n] = 0;
            (void)all::total(a, b, c, d);
            differs += schema != original::total(a, b, c, d) ? 1 : 0;
            wrong += schema != original::total(a, b, c, d) && mutant::seen[n] != 1 ? 1 : 0;
        }
        std::printf("%d %d %s\\n", n, differs, wrong == wrong_before ? "right" : "wrong");
    }
    return wrong != 0;
}
"""


def mutants_of(text, **settings):
    return MutatedFile("sample.cpp", text, **settings).mutants


def limits_of(text):
    return {(mutant.line, mutant.after) for mutant in mutants_of(text) if mutant.is_limit}


def function(line):
    return f"// a sample\nvoid f() {{\n{line}\n}}\n"


class Finding(unittest.TestCase):
    def test_guards(self):
        self.assertEqual(limits_of(GUARDS), {
            (3, "if (false) {"),
            (3, "if (false || reader.failed()) {"),
            (3, "if (reader.count() > count_max || false) {"),
            (3, "if (reader.count() > 1 + count_max || reader.failed()) {"),
            (9, "return reader.left() >= 0;"),
            (9, "return reader.left() <= 0;"),
        })

    def test_other_classes(self):
        others = {mutant.after for mutant in mutants_of(GUARDS) if not mutant.is_limit}
        self.assertIn("if (!(is_known)) {", others)
        self.assertIn("if (false) {", others)  # to know it refuses nothing
        self.assertIn("if (reader.count() >= count_max || reader.failed()) {", others)

    def test_statements(self):
        self.assertEqual(limits_of(function("    reader.fail();")), {(3, ";")})
        self.assertEqual(limits_of(function("    close(CloseReason::Timeout, now);")), {(3, ";")})
        self.assertEqual(limits_of(function("    budget_->steps -= count;")), {(3, ";")})
        self.assertEqual(limits_of(function("    name_ = other;")), set())
        self.assertEqual(mutants_of(function("    Reader reader(bytes);")), [])

    def test_bounds(self):
        bounded = limits_of(function("    f(std::min<int>(size, size_max));"))
        self.assertEqual(bounded, {(3, "f(size);"), (3, "f(size_max);")})

    def test_operands(self):
        answered = limits_of(function("    return is_good && (a || b);"))
        self.assertEqual(answered, {(3, "return true && (a || b);"), (3, "return is_good && true;"),
                                    (3, "return is_good && (false || b);"),
                                    (3, "return is_good && (a || false);")})

    def test_left_alone(self):
        for line in ("    REPLAYOUT_ASSERT(a < b && c);", "    static_assert(a < b);",
                     "    constexpr int size = 4;", "    std::vector<int> numbers;",
                     "    if constexpr (a < b) {\n    }", "    // if (a < b) { fail(); }",
                     '    log("if (a < b) { fail(); }");'):
            kinds = {mutant.kind for mutant in mutants_of(function(line))}
            self.assertLessEqual(kinds, {"statement"}, line)

    def test_numbers_as_limits(self):
        mutants = mutants_of(function("    check(5);"), are_numbers_limits=True)
        self.assertEqual({mutant.after for mutant in mutants if mutant.is_limit},
                         {"check(6);", "check(4);"})

    def test_lines_stay(self):
        file = MutatedFile("sample.cpp", PLAYED)
        file.number(0)
        self.assertEqual(file.mutated("x.h").count("\n"), PLAYED.count("\n"))

    def test_what_does_not_compile(self):
        file = MutatedFile("sample.cpp", GUARDS)
        file.number(0)
        self.assertTrue(file.turn_off(3))
        self.assertFalse(file.turn_off(3))
        self.assertIn("if (reader.count() > count_max || reader.failed()) {", file.mutated("x.h"))
        self.assertNotIn(3, {mutant.line for mutant in file.mutants})


class Playing(unittest.TestCase):
    """All of a file at once, against each alone."""

    def test_same_answers(self):
        file = MutatedFile("sample.cpp", PLAYED)
        count = file.number(0)
        program = ["#include <algorithm>", f'#include "{HERE}/mutant_switch.h"', HELPERS]
        texts = {"all": file.mutated("algorithm"), "original": PLAYED}
        texts.update({f"alone{mutant.number}": file.alone(mutant) for mutant in file.mutants})
        for name, text in texts.items():
            program.append(f"namespace {name} {{\n{text}\n}}")
        names = ", ".join(f"alone{number}::total" for number in range(count))
        program.append(f"constexpr int count = {count};")
        program.append(f"int (*const alone[])(int, int, bool, bool) = {{{names}}};{MAIN}")
        with tempfile.TemporaryDirectory() as folder:
            source, binary = os.path.join(folder, "sample.cpp"), os.path.join(folder, "sample")
            with open(source, "w", encoding="utf-8") as stream:
                stream.write("\n".join(program))
            subprocess.run([COMPILER, "-std=c++20", "-w", "-O0", "-o", binary, source], check=True)
            result = subprocess.run([binary], stdout=subprocess.PIPE, text=True)
        played = [line.split() for line in result.stdout.splitlines()]
        self.assertEqual(len(played), count)
        wrong = [str(file.mutants[int(number)]) for number, _, state in played if state == "wrong"]
        self.assertEqual((wrong, result.returncode), ([], 0))
        alive = [file.mutants[int(number)].after for number, differs, _ in played if differs == "0"]
        # Of all, none but those of which their text says so.
        self.assertLessEqual(len(alive), 6, alive)


class Survivors(unittest.TestCase):
    def test_read(self):
        text = "# of old\na.cpp\n    if (a) {\n    -> if (b) {\n    why: so\n"
        self.assertEqual(mutate.read_survivors(text.splitlines(True)),
                         {("a.cpp", "if (a) {", "if (b) {", 0): "so"})

    def test_listed_are_there(self):
        """Whatever has a reason to live is a mutant, of the class `limit`."""
        with open(os.path.join(HERE, "survivors.txt"), encoding="utf-8") as stream:
            known = mutate.read_survivors(stream)
        root = os.path.dirname(os.path.dirname(HERE))
        there = set()
        for file in {key[0] for key in known}:
            with open(os.path.join(root, file), encoding="utf-8") as stream:
                mutants = mutants_of_file(file, stream.read())
            there |= {mutant.key for mutant in mutants if mutant.is_limit}
        self.assertEqual(set(known) - there, set())

    def test_report(self):
        mutant = mutants_of(GUARDS)[0]
        self.assertEqual(mutate.report([(mutant, "survived")], {}, False), int(mutant.is_limit))
        self.assertEqual(mutate.report([(mutant, "survived")], {mutant.key: "so"}, False), 0)
        self.assertEqual(mutate.report([(mutant, "timeout")], {}, False), 0)


def mutants_of_file(file, text):
    return MutatedFile(file, text, file in mutated_files.NUMBERS_ARE_LIMITS).mutants


if __name__ == "__main__":
    unittest.main()
