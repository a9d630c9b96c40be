# SPDX-License-Identifier: MIT
"""The copy of the sources that the mutants live in: made, built, and its programs run."""
import collections
import concurrent.futures
import hashlib
import itertools
import json
import os
import re
import resource
import subprocess
import tempfile
import time

from mutants import MutatedFile

SWITCH = "mutant_switch.h"
MEMORY_MAX = 6 << 30  # bytes of addresses
RECORD_SECONDS_MAX = 60  # a test that takes longer judges nothing


class Workshop:
    def __init__(self, root, folder, table, jobs):
        self.root, self.table, self.jobs = root, table, jobs
        self.source = os.path.join(folder, "source")
        self.build_folder = os.path.join(folder, "build")
        self.records = os.path.join(folder, "records.json")
        self.programs = sorted({program for _, programs, _ in table.GROUPS for program in programs})
        self.files = {}
        first = 0
        # Headers first, so that what includes them is compiled again only when they change.
        names = [file for _, _, files in table.GROUPS for file in files]
        for file in sorted(names, key=lambda name: (not name.endswith(".h"), name)):
            self.files[file] = MutatedFile(file, self.read(file), file in table.NUMBERS_ARE_LIMITS)
            first = self.files[file].number(first)

    def read(self, file):
        with open(os.path.join(self.root, file), encoding="utf-8") as stream:
            return stream.read()

    def programs_of(self, file):
        return next(programs for _, programs, files in self.table.GROUPS if file in files)

    # The copy

    def is_left_out(self, file):
        """Tests that judge nothing here, and folders that need more than the test programs."""
        if re.match(r"bench/|docs/|tests/(bench|docs|architecture|fuzz|package|simulation|reflection"
                    r"|mutation)/", file):
            return True
        folder, name = os.path.split(file)
        return name.endswith("_test.cpp") and any(
            re.fullmatch(pattern, name[:-len("_test.cpp")])
            for pattern in self.table.LEFT_OUT.get(folder, ()))

    def sources(self):
        """What is copied: the files of the root, and these folders."""
        yield from (name for name in os.listdir(self.root)
                    if os.path.isfile(os.path.join(self.root, name)))
        for folder in ("reflection", "replayout", "netdriver", "tests"):
            for path, _, names in os.walk(os.path.join(self.root, folder)):
                yield from (os.path.relpath(os.path.join(path, name), self.root) for name in names)

    def copy(self):
        for file in self.sources():
            if self.is_left_out(file):
                # Empty, where it is listed: the others are compiled together as they always are.
                if file.endswith("_test.cpp"):
                    self.write(file, b"")
            elif file not in self.files and file != "tests/CMakeLists.txt":
                with open(os.path.join(self.root, file), "rb") as stream:
                    self.write(file, stream.read())
        self.write("tests/CMakeLists.txt", self.test_list().encode())
        self.write(SWITCH, self.read(os.path.join("tests/mutation", SWITCH)).encode())
        self.write_mutated()

    def write_mutated(self):
        include = os.path.join(self.source, SWITCH)
        for name, file in self.files.items():
            self.write(name, file.mutated(include).encode())

    def write(self, file, content):
        """What is the same stays, so that nothing is built again for it."""
        path = os.path.join(self.source, file)
        if os.path.exists(path):
            with open(path, "rb") as stream:
                if stream.read() == content:
                    return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(content)

    def test_list(self):
        """tests/CMakeLists.txt, with our programs alone."""
        text = self.read("tests/CMakeLists.txt")
        for begin, end in (("replayout_add_tests(\n    reflection", "replayout_add_tests(\n    repl"),
                           ("    # All that runs on several threads", "    # Algorithms of the"),
                           ("    replayout_add_tests(\n        docs", "endif()\n"),
                           ("# The simulator", None)):
            start = text.index(begin)
            stop = len(text) if end is None else text.index(end, start + len(begin))
            text = text[:start] + text[stop:]
        return text

    # Building

    def build(self, say, build_rounds_max=8):
        self.copy()
        if not os.path.exists(os.path.join(self.build_folder, "build.ninja")):
            self.configure()
        for _ in range(build_rounds_max):
            result = subprocess.run(
                ["nice", "-n", "5", "cmake", "--build", self.build_folder, "--parallel",
                 str(self.jobs), "--target", *self.programs, "--", "-k", "0"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
            if result.returncode == 0:
                return
            if not self.turn_off(result.stdout, say):
                raise RuntimeError("the copy does not build:\n" + result.stdout[-4000:])
            self.write_mutated()
        raise RuntimeError("the copy does not build, whatever is left out")

    def configure(self):
        compiler = os.environ.get("CXX", "c++")
        subprocess.run(["cmake", "-S", self.source, "-B", self.build_folder, "-G", "Ninja",
                        f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Debug",
                        "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -w", "-DREPLAYOUT_BUILD_EXAMPLES=OFF",
                        "-DREPLAYOUT_INSTALL=OFF", "-DREPLAYOUT_PRECOMPILE=ON",
                        "-DCMAKE_UNITY_BUILD=ON"],
                       check=True, stdout=subprocess.DEVNULL)

    def turn_off(self, output, say):
        """Mutants that do not compile are none. Whether there were any."""
        is_any = False
        for path, line in set(re.findall(r"^(\S+?):(\d+):\d+: (?:error|note)", output, re.M)):
            name = os.path.relpath(os.path.join(self.build_folder, path), self.source)
            if name in self.files and self.files[name].turn_off(int(line)):
                say(f"no mutants, they do not compile: {name}:{line}")
                is_any = True
        return is_any

    # Running

    def run(self, program, names, environment, seconds):
        """Plays these tests up to the first that fails. Its exit code; None when time was up."""
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as list_file:
            list_file.write("".join(as_filter(name) + "\n" for name in names))
            list_file.flush()
            try:
                return subprocess.run(
                    [os.path.join(self.build_folder, "bin", program), "-f", list_file.name,
                     "--abort", "--warn", "NoTests"], cwd=os.path.join(self.source, "tests"), timeout=seconds,
                    env={**os.environ, **environment}, preexec_fn=limit_memory,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
            except subprocess.TimeoutExpired:
                return None

    def tests_of(self, program):
        result = subprocess.run([os.path.join(self.build_folder, "bin", program),
                                 "--list-test-names-only"], stdout=subprocess.PIPE, text=True,
                                cwd=os.path.join(self.source, "tests"))
        return [line for line in result.stdout.splitlines() if line]

    def record_test(self, program, name):
        with tempfile.NamedTemporaryFile(suffix=".seen") as seen:
            started = time.monotonic()
            status = self.run(program, [name], {"REPLAYOUT_MUTANT": "record",
                                                "REPLAYOUT_MUTANTS": seen.name}, RECORD_SECONDS_MAX)
            seconds = time.monotonic() - started
            content = seen.read()
        return {"name": name, "seconds": seconds, "is_good": status == 0,
                "on": [i for i, value in enumerate(content) if value == 1],
                "none": [i for i, value in enumerate(content) if value == 2]}

    def digest_of(self, program):
        """Of what was built: a build may end where it began, with another time."""
        with open(os.path.join(self.build_folder, "bin", program), "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def record(self, say):
        """Which test each mutant makes a difference in: {program: [record of a test]}."""
        kept = {}
        if os.path.exists(self.records):
            with open(self.records, encoding="utf-8") as stream:
                kept = json.load(stream)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for program in self.programs:
                stamp = self.digest_of(program)
                if kept.get(program, {}).get("stamp") == stamp:
                    continue
                say(f"recording {program}")
                tests = pool.map(lambda name: self.record_test(program, name),
                                 self.tests_of(program))
                kept[program] = {"stamp": stamp, "tests": list(tests)}
                with open(self.records, "w", encoding="utf-8") as stream:
                    json.dump(kept, stream)
        for program, record in kept.items():
            for test in record["tests"]:
                if not test["is_good"]:
                    say(f"judges nothing, as it fails or takes long: {program}: {test['name']}")
        return {program: kept[program]["tests"] for program in self.programs}


def as_filter(name):
    """What Catch2 takes as this name alone. Of one that it finds nowhere it says that all is good, if
    it is not told to warn."""
    return re.sub(r"([\\,\[\]\"])", r"\\\1", name)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Judge:
    """Says of a mutant whether a test kills it."""

    def __init__(self, workshop, records, seconds_max=0):
        """`seconds_max`: of tests for one mutant, the fastest first; 0: all of them."""
        self.workshop = workshop
        self.seconds_max = seconds_max
        self.tests = collections.defaultdict(list)  # mutant: [(seconds, program, name)]
        self.impossible = set()
        for program, tests in records.items():
            for test in tests:
                self.impossible.update(test["none"])
                if test["is_good"]:
                    for number in test["on"]:
                        self.tests[number].append((test["seconds"], program, test["name"]))

    def batches(self, mutant):
        """Tests of one program each, the fastest first, more and more of them."""
        programs = self.workshop.programs_of(mutant.file)
        tests = [test for test in sorted(self.tests[mutant.number]) if test[1] in programs]
        if self.seconds_max > 0:
            ends = itertools.accumulate(test[0] for test in tests)
            tests = [test for test, end in zip(tests, ends) if end <= self.seconds_max]
        seconds_max = 0.5
        while tests:
            batch, seconds, program = [], 0.0, tests[0][1]
            for test in tests:
                if test[1] == program and (not batch or seconds + test[0] < seconds_max):
                    batch.append(test)
                    seconds += test[0]
            yield program, [name for _, _, name in batch], seconds
            taken = set(batch)
            tests = [test for test in tests if test not in taken]
            seconds_max *= 2

    def judge(self, mutant):
        """killed, timeout (killed, too), survived, unseen (no test where it makes a difference)."""
        if not self.tests[mutant.number]:
            return "impossible" if mutant.number in self.impossible else "unseen"
        for program, names, seconds in self.batches(mutant):
            status = self.workshop.run(program, names, {"REPLAYOUT_MUTANT": str(mutant.number)},
                                       10 + 5 * seconds)
            if status != 0:
                return "timeout" if status is None else "killed"
        return "survived"

    def judge_all(self, mutants):
        """Yields (mutant, verdict) in their order."""
        with concurrent.futures.ThreadPoolExecutor(self.workshop.jobs) as pool:
            yield from zip(mutants, pool.map(self.judge, mutants))
