"""Tests are handed to workers in groups."""

from __future__ import annotations

import pytest

from tests.support.groups import group_of, rule_of


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
    one, other = "tests/broker_core/spark/test_source.py::test_a", "tests/console/jobs/test_deaths.py::test_b"
    assert rule_of(one).kind == rule_of(other).kind == "spark"
