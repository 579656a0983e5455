"""Tests are handed to workers in groups."""

from __future__ import annotations

import pytest

from tests.support.groups import group_of, next_group, rule_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tests/broker_core/store/test_index.py::test_a", "tests/broker_core/store/test_index.py::test_b[1]"),
        ("tests/gateway/control/test_rights.py::test_a", "tests/gateway/control/test_strict.py::test_b"),
        ("tests/gateway/control/test_scan.py::a[apache]", "tests/gateway/control/test_apache.py::test_b[x-apache]"),
        ("tests/gateway/test_auth.py::test_a", "tests/gateway/cli/test_cli.py::test_b"),
        ("tests/compat/test_lookup.py::test_a[apache]", "tests/compat/test_producers.py::test_b[apache]"),
    ],
)
def test_what_shares_a_server_goes_together(one: str, other: str) -> None:
    assert group_of(one) == group_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tests/broker_core/store/test_index.py::test_a", "tests/broker_core/store/test_reader.py::test_a"),
        ("tests/compat/test_lookup.py::test_a[apache]", "tests/compat/test_lookup.py::test_a[gantry]"),
        ("tests/broker_core/native/test_build.py::test_a", "tests/broker_core/native/test_build.py::test_b"),
        ("tests/gateway/control/test_topics.py::test_a[local]", "tests/gateway/control/test_topics.py::test_a[apache]"),
    ],
)
def test_what_shares_nothing_goes_apart(one: str, other: str) -> None:
    assert group_of(one) != group_of(other)


def test_two_sparks_are_of_one_kind() -> None:
    one, other = "tests/broker_core/spark/test_source.py::test_a", "tests/console/jobs/test_drivers.py::test_b"
    assert rule_of(one).kind == rule_of(other).kind == "spark"


SPARK = "tests/console/jobs/test_drivers.py"
JAVA = "tests/compat/test_several.py"
NEITHER = "tests/console/test_rows.py"


@pytest.mark.parametrize(
    ("busy", "mine", "others", "taken"),
    [
        # Whoever has a Spark goes on with it, and the others leave it to him
        (set(), {"spark"}, {"java"}, SPARK),
        (set(), {"java"}, {"spark"}, JAVA),
        ({"spark"}, set(), {"spark", "java"}, NEITHER),
        (set(), set(), set(), SPARK),
    ],
)
def test_groups_of_a_kind_go_to_the_worker_that_has_had_one(
    busy: set[str], mine: set[str], others: set[str], taken: str
) -> None:
    waiting = {file: rule_of(file) for file in (NEITHER, JAVA, SPARK)}
    assert next_group(waiting, busy=busy, mine=mine, others=others) == taken


def test_what_runs_elsewhere_is_taken_only_when_nothing_else_waits() -> None:
    waiting = {SPARK: rule_of(SPARK), NEITHER: rule_of(NEITHER)}
    arguments = {"busy": {"spark"}, "mine": {"spark"}, "others": {"spark"}}
    assert next_group(waiting, **arguments) == NEITHER
    assert next_group({SPARK: waiting[SPARK]}, **arguments) == SPARK
