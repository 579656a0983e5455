"""For every test: quiet logs of tools, hypothesis without a clock, Java in a hurry, and how workers share a run."""

from __future__ import annotations

import functools
import gc
import logging
import os
import sys
from collections import defaultdict
from typing import Any

import httpx
import hypothesis
import pytest
from httpx._transports import default as transports

from tests.compat import passed
from tests.support import etcd
from tests.support.groups import GroupScheduling
from tests.support.rewriting import rewrite_share

SLOWEST_FILES = 10

logging.getLogger("httpx").setLevel(logging.WARNING)
# It speaks when the interpreter ends, after pytest has closed what it would write to.
logging.getLogger("py4j").setLevel(logging.WARNING)

# No JVM of a test lives long enough to gain from what Java's second compiler makes, which takes seconds of each.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")

# Each client reads the certificates of all authorities, which takes longer than most requests; once is enough.
vars(transports)["create_ssl_context"] = functools.cache(httpx.create_ssl_context)

# How long an example takes says more about the machine than about the code.
_SETTINGS = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
for name, examples in (("usual", 100), ("few", 30), ("many", 2000)):
    # A run that fails fails again: who changed something sees what that broke, and who looks for news asks for many.
    hypothesis.settings.register_profile(name, _SETTINGS, max_examples=examples, derandomize=name != "many")
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling:
    """Share the tests out by groups, whatever ``--dist`` says."""
    return GroupScheduling(config, log)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Do a worker's share of what would otherwise be done by each."""
    worker = getattr(session.config, "workerinput", None)
    if worker is not None and not sys.dont_write_bytecode:
        rewrite_share(session.config, int(worker["workerid"].removeprefix("gw")), worker["workercount"])


def pytest_collection_finish() -> None:
    """Leave what collecting made out of later collections of garbage: it stays to the end, and is large."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the files that took longest, when there are more than those, and what was left out on purpose."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0]] += report.duration
    if len(seconds) > SLOWEST_FILES:
        terminalreporter.section(f"the {SLOWEST_FILES} slowest files")
        for file in sorted(seconds, key=seconds.__getitem__, reverse=True)[:SLOWEST_FILES]:
            terminalreporter.write_line(f"{seconds[file]:7.1f} s  {file}")
    if any(file.startswith("tests/compat/") for file in seconds) and not passed.runs_in_full():
        terminalreporter.write_line(passed.LEFT_OUT)
    skipped = terminalreporter.stats.get("skipped", [])
    if without_etcd := sum(etcd.NOT_INSTALLED in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(etcd.LEFT_OUT.format(without_etcd))
