"""Which tests run together when pytest has several workers, and in which order.

A group runs on one worker, one test after the other, and shares what the worker's fixtures start. Without a row in
`GROUPS` a file is a group of its own. Groups of one kind never run side by side while there is anything else to do: two
Sparks or two browsers at once leave no core to those who wait for an answer. And one worker does them all as long as it
can, since each further worker would start a Spark or a JVM of its own for them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController


@dataclass(frozen=True)
class Rule:
    """Tests whose id matches `pattern`: what they are a kind of, and which of them go together."""

    pattern: re.Pattern[str]
    kind: str | None = None
    name: str = ""
    """Of the one group that they all are; without, each file is one."""
    is_apart: bool = False
    """Each test is a group of its own."""


def _rule(pattern: str, kind: str | None = None, name: str = "", *, is_apart: bool = False) -> Rule:
    return Rule(re.compile(pattern), kind, name, is_apart)


# The first that matches counts. What takes longest begins first, so that no worker is left alone with it in the end.
GROUPS: Final = (
    _rule(r"tests/browser/", name="browser"),
    # One after the other they take longer than all else.
    _rule(r"tests/broker_core/spark/programs/", kind="spark", is_apart=True),
    _rule(r"tests/broker_core/spark/", kind="spark", name="spark"),
    _rule(r"tests/console/jobs/test_(cancelled_replay|drivers|schedule_copies)", kind="spark"),
    _rule(r"tests/crash/test_job_kills", kind="spark"),
    _rule(r"tests/scenarios/", kind="whole"),
    # It mostly waits, for a minute at a time.
    _rule(r"tests/compat/test_orderly_takeover.*\[gantry"),
    # What runs on the services of docker-compose.yml: they are started once.
    _rule(r"tests/gateway/(test_services|(data|live)/.*\[(.*-)?services[-\]])", name="services"),
    _rule(r"tests/gateway/data/", name="data plane"),
    # Each starts a gateway of its own: in one group they would be the longest of all by far.
    _rule(r"tests/gateway/(test_nasty_values|control/test_schema)", name="any input"),
    # Longer than all others together on one worker: so they are four, each with a gateway of its own.
    _rule(r"tests/gateway/control/.*\[(\S*-)?apache\b", kind="java", name="control plane, apache"),
    _rule(r"tests/gateway/control/test_(rights|strict|records|refusals|once_everywhere)", name="every operation"),
    _rule(r"tests/gateway/control/", name="control plane"),
    _rule(r"tests/gateway/(live/|test_socket)", name="live"),
    _rule(r"tests/gateway/", name="gateway"),
    _rule(r"tests/compat/test_several", kind="java"),
    _rule(r"tests/compat/.*\[apache", kind="java", name="apache"),
    _rule(r"tests/broker_core/(native/test_build|test_without_native)", is_apart=True),
    _rule(r"tests/compat/", kind="java"),
    _rule(r"tests/crash/", kind="disk"),
    _rule(r"tests/fuzz/"),
    _rule(r"tests/console/", name="console"),
    _rule(r""),
)


def rule_of(node: str) -> Rule:
    """Return the first rule for a test or a file."""
    return next(rule for rule in GROUPS if rule.pattern.match(node))


def group_of(node: str) -> str:
    """Return the group of a test, by its id."""
    rule = rule_of(node)
    return node if rule.is_apart else rule.name or node.partition("::")[0]


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out whole groups, those of the first rules first."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        busy, mine, others = set[str | None](), set[str | None](), set[str | None]()
        for worker, units in self.assigned_work.items():
            (mine if worker is node else others).update(_rule_of_unit(unit).kind for unit in units.values())
            if worker is not node:
                busy.update(_rule_of_unit(unit).kind for unit in units.values() if not all(unit.values()))
        rules = {group: _rule_of_unit(unit) for group, unit in self.workqueue.items()}
        self.workqueue.move_to_end(next_group(rules, busy=busy, mine=mine, others=others), last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: WorkerController) -> None:
        # A worker must know its next test before it begins one; what comes after that, another one may take.
        if not self.workqueue or self._pending_of(self.assigned_work[node]) <= 1:
            super()._reschedule(node)


def next_group(
    waiting: Mapping[str, Rule], *, busy: Collection[str | None], mine: Collection[str | None],
    others: Collection[str | None],
) -> str:  # fmt: skip
    """Return which group a worker takes: one of a kind it has had, one of a kind that nobody has, or then any.

    `busy` are the kinds that run on other workers now, `mine` and `others` those that this and other workers have had.
    """

    def rank(group: str) -> tuple[bool, bool, bool, int]:
        rule, kind = waiting[group], waiting[group].kind
        is_mine = kind is not None and kind in mine
        return kind is not None and kind in busy, not is_mine, kind is not None and kind in others, GROUPS.index(rule)

    return min(waiting, key=rank)


def _rule_of_unit(unit: Mapping[str, bool]) -> Rule:
    return rule_of(next(iter(unit)))
