"""Requirements of `gateway.data.key_order`: whatever a stream is cut into, nothing overtakes what failed before it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gateway.data.key_order import held_back
from gateway.data.sending import SendOutcome, failed
from gateway.problems import INVALID, ProblemError


@given(
    st.lists(st.tuples(st.sampled_from([None, "a", "b"]), st.booleans()), max_size=9),
    st.lists(st.integers(0, 9), max_size=4),
)
def test_the_same_messages_are_held_back_however_they_are_cut(
    messages: list[tuple[str | None, bool]], cuts: list[int]
) -> None:
    named = [(str(number), key) for number, (key, _) in enumerate(messages)]
    refused = {
        str(number): failed(str(number), ProblemError(INVALID, str(number)))
        for number, (_, is_good) in enumerate(messages)
        if not is_good
    }
    first = {key: name for name, key in reversed(named) if name in refused and key is not None}
    expected = {
        name: first[key] for name, key in named if key in first and name not in refused and int(first[key]) < int(name)
    }
    places = [0, *sorted(min(cut, len(named)) for cut in cuts), len(named)]
    broken: dict[str, ProblemError] = {}
    held: dict[str, SendOutcome] = {}
    for begin, end in pairwise(places):
        held |= held_back(named[begin:end], refused, broken)
    assert {name: outcome.problem and outcome.problem.detail for name, outcome in held.items()} == expected
