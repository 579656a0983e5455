"""Two trees compared on one machine: ``python -m tests.benchmarks.beside TREE [benchmark …]``.

Runs each benchmark here and in TREE, in turn, several times, and prints the best figures of both and their ratio: of a
rate more is better, of a cost less. TREE needs its compiled functions built (``python -m broker_core.native.build``).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.__main__ import BENCHMARKS

ROUNDS = 3
COSTS = ("us", "ms", "KiB", "bytes", "calls")
"""Units of which less is better."""

_ROW = re.compile(r"(?P<name>.{46}) +(?P<figure>[\d,]+) (?P<unit>\S+)")  # as `measure.Row` writes it
Figures = dict[tuple[str, str], float]


def measured(tree: Path, name: str) -> Figures:
    """Run a benchmark in a tree; return its figures by name and unit."""
    command = [sys.executable, "-m", "tests.benchmarks", name]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    rows = [found for line in done.stdout.splitlines() if (found := _ROW.match(line))]
    return {(row["name"].strip(), row["unit"]): float(row["figure"].replace(",", "")) for row in rows}


def best(runs: list[Figures]) -> Figures:
    """Return the best of each figure."""
    return {
        (name, unit): (min if unit in COSTS else max)(run[name, unit] for run in runs if (name, unit) in run)
        for name, unit in dict.fromkeys(key for run in runs for key in run)
    }


def main() -> int:
    """Compare the tree in which this runs with the one on the command line."""
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "tests" / "benchmarks").is_dir():
        print(__doc__)
        return 2
    other = Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or BENCHMARKS:
        turns = [(measured(Path.cwd(), name), measured(other, name)) for _ in range(ROUNDS)]
        here, there = best([turn[0] for turn in turns]), best([turn[1] for turn in turns])
        for key in (key for key in here if key in there):
            print(f"{key[0]:<46} {here[key]:>12,.0f} {there[key]:>12,.0f} {key[1]:<8} {here[key] / there[key]:6.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
