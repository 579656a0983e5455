"""The state of a broker name: its text, and what is refused as one."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.bodies.controller import (
    HIGHEST_EPOCH,
    Election,
    LastChange,
    MasterLife,
    NamePolicy,
    NameState,
    ReplicaState,
    decode_state,
    encode_state,
    life_number,
)
from broker_core.protocol.errors import MalformedBody

SAMPLE = {
    "name": "b", "cluster": "C", "version": 31, "change": "6f2c91d0", "epoch": 5, "top_epoch": 5,
    "master": {"id": 2, "life": "17-9f3a"}, "set": [1, 2], "set_version": 12,
    "replicas": {
        "1": {"address": "10.0.0.1:10911", "ha": "10.0.0.1:10912", "life": "40-07bc", "check": "c", "clean": True,
              "last_epoch": 4},
        "2": {"address": "10.0.0.2:10911", "ha": "10.0.0.2:10912", "life": "17-9f3a", "check": "d", "clean": True,
              "last_epoch": 5},
    },
    "next_id": 4, "last_clean": 2, "policy": {"min_in_sync": 2, "unclean_allowed": False},
    "last": {"why": "replica 1 started", "by": "n1", "at": 1795298661007},
    "elected": [
        {"epoch": 5, "version": 30, "master": {"id": 2, "life": "17-9f3a"}, "set": [1, 2], "why": "killed", "by": "n1",
         "at": 1795298660121},
    ],
}  # fmt: skip

numbers = st.integers(0, (1 << 63) - 1)
epochs = st.integers(0, HIGHEST_EPOCH)
texts = st.text(max_size=8)
lives = st.builds("{}-{}".format, st.integers(1, 10**9), st.text("0123456789abcdef", min_size=1, max_size=4))
replicas = st.builds(ReplicaState, texts, texts, lives, texts, st.booleans(), numbers)
policies = st.builds(NamePolicy, numbers, st.booleans())
changes = st.builds(LastChange, texts, texts, numbers)
elections = st.builds(
    Election, epoch=epochs, version=numbers, master=st.builds(MasterLife, numbers, lives),
    in_sync=st.lists(numbers, max_size=3), why=texts, by=texts, at=numbers,
)  # fmt: skip


@st.composite
def states(draw: st.DrawFn) -> NameState:
    known = draw(st.dictionaries(st.integers(1, 9), replicas, max_size=4))
    in_sync: list[int] = draw(st.lists(st.sampled_from(sorted(known)), unique=True)) if known else []
    has_master: bool = draw(st.booleans())
    master = MasterLife(draw(st.sampled_from(in_sync)), draw(lives)) if in_sync and has_master else None
    return NameState(
        name=draw(texts), cluster=draw(texts), version=draw(numbers), change=draw(texts), epoch=draw(epochs),
        top_epoch=draw(epochs), master=master, in_sync=in_sync, set_version=draw(numbers), replicas=known,
        next_id=draw(numbers), last_clean=draw(numbers), policy=draw(policies), last=draw(changes),
        elected=draw(st.lists(elections, max_size=2)),
    )  # fmt: skip


@given(states())
def test_what_is_written_is_read(state: NameState) -> None:
    assert decode_state(encode_state(state)) == state
    assert decode_state(encode_state(state).decode()) == state


def test_the_text_has_the_names_of_the_wire() -> None:
    state = decode_state(orjson.dumps(SAMPLE))
    assert orjson.loads(encode_state(state)) == SAMPLE
    assert state.view == (5, 31)
    assert state.replicas[1].last_epoch == 4


def test_a_name_without_a_master_has_no_such_field() -> None:
    tree = {name: value for name, value in SAMPLE.items() if name != "master"}
    state = decode_state(orjson.dumps(tree))
    assert state.master is None
    assert orjson.loads(encode_state(state)) == tree


def test_a_state_of_before_elections_were_kept_has_none() -> None:
    tree = {name: value for name, value in SAMPLE.items() if name != "elected"}
    assert decode_state(orjson.dumps(tree)).elected == []


@pytest.mark.parametrize("field", sorted(SAMPLE.keys() - {"master", "elected"}))
def test_nothing_is_supplied_for_what_is_missing(field: str) -> None:
    with pytest.raises(MalformedBody):
        decode_state(orjson.dumps({name: value for name, value in SAMPLE.items() if name != field}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"set": [1, 2, 3]}, "3 is in the in-sync set"),
        ({"set": [1]}, "the master 2 is not in the in-sync set"),
        ({"replicas": {"1": {**SAMPLE["replicas"]["1"], "life": "x"}}, "set": [1], "master": None}, "is not a life"),  # type: ignore[index]
        ({"name": "b" * (64 << 10)}, "of at most 65536"),
    ],
)
def test_a_state_that_cannot_be_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(MalformedBody, match=sentence):
        decode_state(orjson.dumps({**SAMPLE, **change}))


def test_lives_are_ordered_by_their_counter() -> None:
    assert life_number("17-9f3a") == 17
    assert life_number("") == 0
    for wrong in ("17", "-9f", "1x-9f", "17-", "\u0661-a", "9" * 19 + "-a"):
        with pytest.raises(MalformedBody):
            life_number(wrong)
