"""``make bench``: every benchmark in one run on one machine. Figures differ between machines, ratios hardly.

python -m tests.benchmarks [append] [send] [gateway] [spark_scan] [spark_wire] [spark_start] [replay] [reconcile]
    [apache] [crowd] [scale] [registration] [filters] [decisions] [replicas] [failover] [endurance]
"""

from __future__ import annotations

import importlib
import sys

BENCHMARKS = (
    "append", "send", "gateway", "spark_scan", "spark_wire", "spark_start", "replay", "reconcile", "apache", "crowd",
    "scale", "registration", "filters", "decisions", "replicas", "failover",
)  # fmt: skip
BY_NAME_ONLY = ("endurance",)
"""Takes an hour."""


def main() -> int:
    """Run the benchmarks named on the command line, or all."""
    chosen = sys.argv[1:] or list(BENCHMARKS)
    known = (*BENCHMARKS, *BY_NAME_ONLY)
    unknown = [name for name in chosen if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    for name in chosen:
        for row in importlib.import_module(f"tests.benchmarks.{name}").run():
            print(row.text(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
