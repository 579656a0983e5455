"""Requirements of `gateway.control.naming`: browsers get the rules for names from the API that applies them."""

from __future__ import annotations

import re

import pytest

from tests.gateway.control.conftest import Control

pytestmark = pytest.mark.gantry_only("no broker takes part")


@pytest.mark.parametrize(("kind", "path"), [("topic", "/topics"), ("group", "/groups")])
def test_a_name_is_taken_if_its_rule_says_so(control: Control, kind: str, path: str) -> None:
    rule = control.as_("viewer").get("/api/v1/naming").json()[kind]
    longest = control.name("n").ljust(rule["max_length"], "x")
    for name, fits in [(longest, True), (longest + "x", False), ("%RETRY%billing", False), ("a b", False), ("", False)]:
        assert (re.search(rule["pattern"], name) is not None) == fits, name
        made = control.call("POST", path, json={"name": name})
        assert (made.status_code == 201) == fits, made.text


def test_the_prefixes_are_those_of_the_brokers(control: Control) -> None:
    naming = control.as_("viewer").get("/api/v1/naming").json()
    assert (naming["retry_prefix"], naming["dead_letter_prefix"]) == ("%RETRY%", "%DLQ%")


def test_the_rules_are_for_those_who_are_signed_in(control: Control) -> None:
    assert control.as_("stranger").get("/api/v1/naming").status_code == 401
