"""Requirements of `console.accounts.deciding` and of the sentences about its answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.accounts.deciding import Rights, rights_of
from console.accounts.explaining import reason_of, refusal_of
from console.accounts.rights import ANYTHING, EVERYTHING, ROLE_VERBS, ROLES, VERBS, Kind, Resource, Unnamed, Verb
from console.accounts.rules import KIND_VERBS, KINDS, RoleRules, Rule


def role(*rules: Rule, name: str = "oncall") -> RoleRules:
    return RoleRules(name, rules)


ONCALL = role(
    Rule("topic", "orders*, payments", allow=("read", "bodies")),
    Rule("topic", "payments", refuse=("bodies",)),
    Rule("group", "billing-?", allow=("read", "consume")),
    Rule("job", "replay", allow=("read", "jobs")),
)
RIGHTS = rights_of("", [ONCALL])


@pytest.mark.parametrize(
    ("verb", "kind", "name", "allowed"),
    [
        ("read", "topic", "orders-eu", True),
        ("read", "topic", "Orders", False),
        ("read", "group", "orders", False),
        ("read", "topic", "payments", True),
        ("bodies", "topic", "orders", True),
        ("bodies", "topic", "payments", False),
        ("produce", "topic", "orders", False),
        ("read", "group", "billing-1", True),
        ("read", "group", "billing-10", False),
        ("jobs", "job", "replay", True),
        ("jobs", "job", "redrive", False),
        ("read", "cluster", "local", False),
    ],
)
def test_what_no_rule_allows_is_refused(verb: Verb, kind: Kind, name: str, allowed: bool) -> None:
    assert RIGHTS.may(verb, Resource(kind, name)) == allowed
    assert RIGHTS.decide(verb, Resource(kind, name)).allowed == allowed


def test_a_refusal_wins_over_a_permission_of_any_role() -> None:
    both = rights_of("admin", [ONCALL])
    assert both.may("read", Resource("topic", "payments"))
    assert not both.may("bodies", Resource("topic", "payments"))


def test_a_refused_name_does_not_close_what_asks_for_some_name() -> None:
    all_but_one = rights_of("viewer", [role(Rule("topic", "payments", refuse=("read",)))])
    assert all_but_one.may("read")
    assert all_but_one.may("read", Resource("topic", ANYTHING))
    assert all_but_one.may("read", Resource("group", EVERYTHING))
    # But what shows all topics would show it
    assert not all_but_one.may("read", Resource("topic", EVERYTHING))
    assert not all_but_one.may("read", EVERYTHING)


def test_a_verb_that_is_refused_on_every_name_is_allowed_on_none() -> None:
    nothing = rights_of("viewer", [role(Rule("topic", "a, **", refuse=("read",)))])
    assert not nothing.may("read", Resource("topic", ANYTHING))
    assert nothing.may("read")


def test_who_consumes_needs_the_right_on_topic_and_group() -> None:
    consumer = rights_of("", [role(Rule("topic", "*", ("consume",)), Rule("group", "billing", ("consume",)))])
    assert consumer.may("consume", Resource("topic", "orders"), group="billing")
    assert not consumer.may("consume", Resource("topic", "orders"), group="other")
    assert not consumer.decide("consume", Resource("topic", "orders"), group="other").allowed


def test_retries_and_dead_letters_are_shown_to_whoever_may_see_their_group() -> None:
    rules = role(
        Rule("topic", "*", ("read", "bodies")), Rule("group", "*", ("read",)), Rule("group", "pay*", (), ("read",))
    )
    rights = rights_of("", [rules])
    expected: tuple[tuple[str, Verb, bool], ...] = (
        ("%DLQ%pay-eu", "read", False),
        ("%RETRY%pay-eu", "read", False),
        ("%DLQ%billing", "read", True),
        ("%DLQ%billing", "bodies", False),
        ("%DLQ%", "read", True),
        ("pay-eu", "read", True),
    )
    for name, verb, allowed in expected:
        assert rights.may(verb, Resource("topic", name)) == allowed, name
        assert rights.decide(verb, Resource("topic", name)).allowed == allowed, name
    # So nobody sees all topics who does not see all groups
    assert not rights.may("read", Resource("topic", EVERYTHING))
    assert rights.may("read", Resource("topic", ANYTHING))


@pytest.mark.parametrize(
    ("verb", "on_group"),
    [("produce", "redrive"), ("consume", "consume"), ("manage", "manage"), ("delete", "delete")],
)
def test_what_is_refused_on_a_group_is_refused_on_its_retries_and_dead_letters(verb: Verb, on_group: Verb) -> None:
    whole = role(Rule("topic", "*", (verb,)), Rule("group", "*", (on_group,)), Rule("group", "pay*", (), (on_group,)))
    rights = rights_of("", [whole])
    consuming = "billing" if verb == "consume" else None
    for name, allowed in (("%DLQ%pay-eu", False), ("%RETRY%pay-eu", False), ("%DLQ%billing", True), ("pay-eu", True)):
        assert rights.may(verb, Resource("topic", name), group=consuming) == allowed, name
        assert rights.decide(verb, Resource("topic", name), group=consuming).allowed == allowed, name
    # And the refusal names what is missing
    assert refusal_of(rights, verb, Resource("topic", "%DLQ%pay-eu")) == (
        f"This needs the right '{on_group}' on group 'pay-eu'. Rule 3 of the role 'oncall' (group pay*) refuses it; "
        "a refusal wins over every permission."
    )


INTERNAL = Resource("topic", "RMQ_SYS_TRANS_HALF_TOPIC")


def test_a_topic_with_messages_of_all_topics_takes_the_right_on_all() -> None:
    viewer = rights_of("viewer")
    carol = rights_of("viewer", [role(Rule("topic", "secret", refuse=("read",)))])
    grouped = rights_of("viewer", [role(Rule("group", "billing", refuse=("read",)))])
    listed = rights_of("", [role(Rule("topic", "RMQ_*", allow=("read",)))])
    assert viewer.may("read", INTERNAL)
    assert viewer.decide("read", INTERNAL).allowed
    for rights in (carol, grouped, listed):
        assert not rights.may("read", INTERNAL)
        assert not rights.decide("read", INTERNAL).allowed
    assert refusal_of(carol, "read", INTERNAL) == (
        "'RMQ_SYS_TRANS_HALF_TOPIC' has messages of every topic: this needs the right 'read' on all of them. "
        "Rule 1 of the role 'oncall' (topic secret) refuses it; a refusal wins over every permission."
    )
    assert "'read' on all of them" in refusal_of(listed, "read", INTERNAL)


@pytest.mark.parametrize(("scope", "allowed"), [("read", True), ("read:*", False), ("read:RMQ_*", False)])
def test_a_token_for_some_topics_does_not_open_a_topic_of_all(scope: str, allowed: bool) -> None:
    rights = rights_of("viewer", scopes=[scope])
    assert rights.may("read", INTERNAL) == rights.decide("read", INTERNAL).allowed == allowed


def test_consuming_what_is_of_all_topics_takes_the_group_too() -> None:
    rights = rights_of("developer", [role(Rule("group", "billing", refuse=("consume",)))])
    assert not rights.may("consume", INTERNAL, group="billing")
    assert rights_of("developer").may("consume", INTERNAL, group="billing")


def test_a_bracket_in_a_pattern_is_a_bracket() -> None:
    assert Rule("schedule", "[a]*").matches("[a] nightly")
    assert not Rule("schedule", "[a]*").matches("a nightly")


@pytest.mark.parametrize("name", ROLES)
def test_a_built_in_role_has_its_verbs_on_every_kind_that_knows_them(name: str) -> None:
    rights = rights_of(name)
    assert set(rights.verbs()) == ROLE_VERBS[name]
    # Whoever may send to every topic may send to every group's retries, which is redriving
    whole = ROLE_VERBS[name] - (set() if "redrive" in ROLE_VERBS[name] else {"produce"})
    assert all(rights.may(verb, EVERYTHING) == (verb in whole) for verb in VERBS)


RULES = st.builds(
    Rule,
    st.sampled_from(KINDS),
    st.lists(st.text("ab*?", min_size=1, max_size=3), min_size=1, max_size=2).map(",".join),
    st.lists(st.sampled_from(VERBS), max_size=3).map(tuple),
    st.lists(st.sampled_from(VERBS), max_size=2).map(tuple),
)
ROLES_OF_ONES_OWN = st.lists(st.builds(RoleRules, st.just("r"), st.lists(RULES, max_size=4).map(tuple)), max_size=2)


@given(ROLES_OF_ONES_OWN, st.sampled_from(VERBS), st.sampled_from(KINDS), st.text("ab", min_size=1, max_size=3))
def test_the_explained_answer_is_the_answer(roles: list[RoleRules], verb: Verb, kind: Kind, name: str) -> None:
    rights = Rights(tuple(roles), None)
    resource = Resource(kind, name)
    decision = rights.decide(verb, resource)
    assert rights.may(verb, resource) == (decision.allowed and verb in KIND_VERBS[kind])
    # And it agrees with the wider questions
    if rights.may(verb, Resource(kind, EVERYTHING)):
        assert rights.may(verb, resource)
    if rights.may(verb, resource):
        assert rights.may(verb, Resource(kind, ANYTHING))


def test_the_answer_names_the_rule_and_weighs_the_others() -> None:
    rights = rights_of("viewer", [ONCALL])
    decision = rights.decide("bodies", Resource("topic", "payments"))
    assert [(each.role, each.number, each.outcome) for each in decision.weighed] == [
        ("oncall", 2, "decides"),
        ("oncall", 1, "overruled"),
        ("viewer", 1, "other_verb"),
    ]
    assert "Rule 2 of the role 'oncall' (topic payments) refuses it" in reason_of(rights, decision)


@pytest.mark.parametrize(
    ("verb", "resource", "words"),
    [
        ("bodies", Resource("topic", "payments"), "on topic 'payments'. Rule 2 of the role 'oncall'"),
        ("produce", Resource("topic", "orders"), "on topic 'orders'. No rule of the role 'oncall' allows it"),
        ("read", Resource("cluster", ANYTHING), "on some cluster. The rules of the role 'oncall' do not allow it"),
        ("read", EVERYTHING, "on everything. The rules of the role 'oncall' do not allow it"),
    ],
)
def test_a_refusal_names_right_resource_and_rule(verb: Verb, resource: Resource | Unnamed, words: str) -> None:
    assert f"This needs the right '{verb}' {words}" in refusal_of(RIGHTS, verb, resource)


def test_a_token_that_is_too_narrow_is_named_by_its_scopes() -> None:
    narrow = rights_of("viewer", scopes=["read:orders*"])
    assert refusal_of(narrow, "read", Resource("topic", "payments")).endswith(
        "The scopes of the token do not cover it: read:orders*."
    )
    assert "scopes" in refusal_of(narrow, "read", EVERYTHING)
    decision = narrow.decide("read", Resource("topic", "payments"))
    assert decision.by is not None
    assert decision.by.rule is None
    assert not decision.allowed
