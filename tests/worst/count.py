# SPDX-License-Identifier: MIT
#
# Counts under Callgrind what the dearest dispatch of each find takes, and fails where that is more
# than the find's file says:
#
#     # datagram, place 10: at most 3000000 instructions
#
#     count.py PROGRAM [FILE]...
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "instructions"))

import processor  # noqa: E402

MARK = re.compile(r"^# ([a-z]+), place ([0-9]+): at most ([0-9]+) instructions$", re.MULTILINE)
COLLECTED = re.compile(r"Collected : ([0-9]+)")


def count(program, path, place):
    """Instructions of that dispatch, in a play of that file."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--collect-atstart=no",
             f"--callgrind-out-file={folder}/out",
             "--toggle-collect=replayout_worst_marked_dispatch",
             program, "--replay", path, "--mark", place],
            env={**os.environ, "GLIBC_TUNABLES": processor.TUNABLES},
            capture_output=True, text=True, check=False)
    found = COLLECTED.search(run.stderr)
    if found is None:
        sys.exit(f"count.py: {path} was not counted:\n{run.stderr}")
    return int(found.group(1))


def main():
    program, paths = sys.argv[1], sys.argv[2:]
    if not paths:
        paths = sorted(str(path) for path in (pathlib.Path(__file__).parent / "finds").glob("*.txt"))
    is_within = True
    for path in paths:
        for score, place, limit in MARK.findall(pathlib.Path(path).read_text(encoding="utf-8")):
            counted = count(program, path, place)
            is_more = counted > int(limit)
            is_within = is_within and not is_more
            print(f"{pathlib.Path(path).stem:32} {score:9} {counted:12,}"
                  f"{f'  MORE THAN {int(limit):,}' if is_more else ''}", flush=True)
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
