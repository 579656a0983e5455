"""Requirements of `console.accounts.rights`."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.accounts.deciding import rights_of
from console.accounts.rights import (
    ANYTHING,
    EVERYTHING,
    ROLE_VERBS,
    ROLES,
    VERBS,
    Kind,
    Resource,
    Unnamed,
    Verb,
    is_scope,
)


def may(
    role: str, scopes: list[str] | None, verb: Verb, resource: Resource | Unnamed, *, group: str | None = None
) -> bool:
    return rights_of(role, scopes=scopes).may(verb, resource, group=group)


SCOPES = st.lists(
    st.one_of(st.sampled_from(VERBS), st.builds("{}:{}".format, st.sampled_from(VERBS), st.text("ab*?", min_size=1)))
)


def test_each_role_may_what_the_one_below_may() -> None:
    chain = [ROLE_VERBS[role] for role in ("viewer", "developer", "operator", "admin")]
    assert all(lower < higher for lower, higher in itertools.pairwise(chain))
    assert ROLE_VERBS["admin"] == set(VERBS)


def test_an_unknown_role_may_nothing() -> None:
    assert rights_of("king").verbs() == []


@given(st.sampled_from(ROLES), SCOPES, st.sampled_from(VERBS), st.text("ab", max_size=3))
def test_a_token_never_exceeds_its_user(role: str, scopes: list[str], verb: Verb, resource: str) -> None:
    named = Resource("topic", resource)
    assert not may(role, scopes, verb, named) or may(role, None, verb, named)


@pytest.mark.parametrize(
    ("scope", "resource", "allowed"),
    [
        ("read", "orders", True),
        ("read", EVERYTHING, True),
        ("read", "", True),
        ("read:orders", "orders", True),
        ("read:orders", "orders2", False),
        ("read:orders*", "orders2", True),
        ("read:orders*", ANYTHING, True),
        ("read:orders*", "", False),
        ("read:orders*", EVERYTHING, False),
        ("read:?", EVERYTHING, False),
        ("read:[!_]*", EVERYTHING, False),
        ("read:*", EVERYTHING, False),
        ("read:*", "orders", True),
        ("read:Orders", "orders", False),
        ("read:[a-c]x", "bx", True),
        ("admin:*", "orders", False),
        ("admin:?", ANYTHING, False),
        ("produce", "orders", False),
    ],
)
def test_a_pattern_covers_the_names_it_matches(scope: str, resource: str | Unnamed, allowed: bool) -> None:
    asked = resource if isinstance(resource, Unnamed) else Resource("topic", resource)
    assert may("admin", [scope], "read", asked) == allowed


@pytest.mark.parametrize(
    ("scope", "topic", "group", "allowed"),
    [
        ("consume:orders@billing", "orders", "billing", True),
        ("consume:orders@billing", "orders", "other", False),
        ("consume:orders@billing", "payments", "billing", False),
        ("consume:orders*@billing-*", "orders-eu", "billing-eu", True),
        ("consume:*@billing", "payments", "billing", True),
        # As before scopes could name a group
        ("consume:orders*", "orders-eu", "any", True),
        ("consume", "orders", "any", True),
        # An unknown group is not allowed
        ("consume:orders@*", "orders", None, False),
        ("produce:orders@billing", "orders", None, False),
        ("consume:orders@", "orders", "billing", False),
    ],
)
def test_who_consumes_needs_both_topic_and_group(scope: str, topic: str, group: str | None, allowed: bool) -> None:
    verb: Verb = "produce" if scope.startswith("produce") else "consume"
    assert may("admin", [scope], verb, Resource("topic", topic), group=group) == allowed


@pytest.mark.parametrize("kind", ["job", "schedule", "cluster"])
def test_a_pattern_covers_only_topics_and_groups(kind: Kind) -> None:
    assert not may("admin", ["read:*"], "read", Resource(kind, "replay"))
    assert not may("admin", ["read:*"], "read", Resource(kind, ANYTHING))
    assert may("admin", ["read"], "read", Resource(kind, "replay"))


def test_all_of_a_kind_needs_the_bare_verb() -> None:
    assert not may("admin", ["read:*"], "read", Resource("topic", EVERYTHING))
    assert may("admin", ["read:a*"], "read", Resource("topic", ANYTHING))
    assert may("admin", ["read"], "read", Resource("topic", EVERYTHING))


PATTERNS = st.one_of(st.text(), st.text("*?[]!a-z_", min_size=1))


@given(st.sampled_from(ROLES), st.lists(st.tuples(st.sampled_from(VERBS), PATTERNS)), st.sampled_from(VERBS))
def test_no_pattern_reaches_what_has_no_name(role: str, scopes: list[tuple[str, str]], verb: Verb) -> None:
    assert not may(role, [f"{allowed}:{pattern}" for allowed, pattern in scopes], verb, EVERYTHING)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("read", True),
        ("read:a*", True),
        ("read:%DLQ%orders-?", True),
        ("consume:orders*@billing-?", True),
        ("consume:*@b", True),
        ("consume:@b", False),
        ("consume:a@", False),
        ("consume:a@b@c", False),
        ("produce:a@b", False),
        ("read:", False),
        ("read:[!_]*", False),
        ("read:a b", False),
        ("admin:?", False),
        ("", False),
        ("fly", False),
        (":a", False),
    ],
)
def test_a_scope_is_a_verb_and_perhaps_a_pattern(text: str, valid: bool) -> None:
    assert is_scope(text) == valid
