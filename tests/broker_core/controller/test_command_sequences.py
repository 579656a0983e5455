"""Whatever commands come, in whatever order, also late and twice: what holds of a name's states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from broker_core.controller.commands import (
    AcceptLoss,
    Adopt,
    AlterSet,
    ApplyId,
    Candidate,
    Command,
    Elect,
    Register,
    Remove,
    SetPolicy,
    Stamp,
)
from broker_core.controller.errors import Refused
from broker_core.controller.replicas import decide
from broker_core.protocol.bodies.controller import MasterLife, NameState, decode_state, encode_state

ids = st.integers(1, 4)
lives = st.builds("{}-{}".format, st.integers(1, 4), st.sampled_from("ab"))
epochs = st.integers(0, 6)
candidates = st.builds(Candidate, ids, lives, epochs, st.integers(0, 3), st.integers(0, 1), epochs)
among = st.lists(candidates, max_size=4, unique_by=lambda each: each.id).map(tuple)
masters = st.none() | st.builds(MasterLife, ids, lives)
names, clusters, checks = st.just("b"), st.just("C"), st.sampled_from(("x", "y"))

applications = st.builds(ApplyId, names, clusters, ids, checks)
registrations = st.builds(
    Register, names, clusters, ids, lives, st.just("h:1"), st.just("h:2"), checks, st.booleans(), epochs, epochs
)
alterations = st.builds(
    AlterSet, names, ids, lives, epochs, st.integers(0, 5), st.lists(st.tuples(ids, lives), max_size=4).map(tuple)
)
elections = st.builds(Elect, names, among, masters, st.just("killed"), st.none() | ids)
others = st.one_of(
    st.builds(Remove, names, st.lists(ids, max_size=2).map(tuple), st.booleans()),
    st.builds(SetPolicy, names, st.none() | st.integers(0, 4), st.none() | st.booleans()),
    st.builds(AcceptLoss, names, ids, among, masters),
    st.builds(
        Adopt, names, clusters, st.lists(ids, max_size=2).map(tuple), st.lists(st.tuples(epochs, epochs)).map(tuple)
    ),
)


@st.composite
def fitting(draw: st.DrawFn) -> str:
    """Return which command to make of the state that there is, so that most are not refused."""
    kind: str = draw(st.sampled_from(("register", "elect", "alter")))
    return kind


steps = st.lists(st.one_of(applications, registrations, alterations, elections, others, fitting()), max_size=40)


def _made(kind: str, state: NameState | None, number: int) -> Command | None:
    if state is None or not state.replicas:
        return None
    known = sorted(state.replicas)
    chosen = known[number % len(known)]
    if kind == "register":
        replica = state.replicas[chosen]
        life = f"{int(replica.life.partition('-')[0] or 0) + 1}-a"
        return Register("b", "C", chosen, life, "h:1", "h:2", replica.check, bool(number % 3), 0)
    if kind == "elect":
        heard = tuple(Candidate(each, replica.life, 0, each) for each, replica in state.replicas.items())
        return Elect("b", heard, state.master, "killed")
    if state.master is None:
        return None
    members = {state.master.id, *known[: number % (len(known) + 1)]}
    lived = tuple((each, state.replicas[each].life) for each in sorted(members))
    return AlterSet("b", state.master.id, state.master.life, state.epoch, state.set_version, lived)


def _run(drawn: list[Command | str]) -> Iterator[tuple[Command, NameState | None, NameState]]:
    """Carry the commands out, and yield each that changed something with the states before and after it."""
    state: NameState | None = None
    for number, step in enumerate(drawn):
        command = _made(step, state, number) if isinstance(step, str) else step
        if command is None:
            continue
        try:
            after = decide(state, command, Stamp(f"{number}", "n1", number))
        except Refused:
            continue
        if after is not state:
            yield command, state, after
        state = after


@given(steps)
def test_an_epoch_has_one_master_and_is_never_used_again(drawn: list[Command | str]) -> None:
    masters_of: dict[int, MasterLife] = {}
    for _, before, after in _run(drawn):
        assert after.epoch >= (before.epoch if before else 0)
        if after.master is not None:
            assert masters_of.setdefault(after.epoch, after.master) == after.master
        if before is not None and after.master is not None and before.master != after.master:
            assert after.epoch > max(before.epoch, before.top_epoch)


@given(steps)
def test_the_set_changes_only_by_the_master_an_unclean_life_or_an_operator(drawn: list[Command | str]) -> None:
    for command, before, after in _run(drawn):
        assert set(after.in_sync) <= after.replicas.keys()
        assert after.master is None or after.master.id in after.in_sync
        was = before.in_sync if before else []
        if after.in_sync == was:
            continue
        assert before is not None or isinstance(command, Adopt)
        assert after.set_version > (before.set_version if before else 0)
        if isinstance(command, AlterSet):
            assert before is not None
            assert before.master == MasterLife(command.id, command.life)
            assert before.epoch == command.epoch
        elif isinstance(command, Register):
            is_first = not was and after.epoch == 0
            assert is_first or (not command.is_clean and set(after.in_sync) == set(was) - {command.id})
        else:
            assert isinstance(command, Remove | AcceptLoss | Adopt)


@given(steps)
def test_the_texts_of_a_name_form_one_chain(drawn: list[Command | str]) -> None:
    texts: set[bytes] = set()
    for command, before, after in _run(drawn):
        version = before.version if before else 0
        assert after.version > version if isinstance(command, Adopt) else after.version == version + 1
        assert after.view > (before.view if before else (0, 0))
        assert after.next_id > max(after.replicas, default=0)
        assert after.next_id >= (before.next_id if before else 1)
        text = encode_state(after)
        assert text not in texts
        assert decode_state(text) == after
        texts.add(text)


@given(steps)
def test_whoever_is_elected_is_clean_and_of_the_set(drawn: list[Command | str]) -> None:
    for command, before, after in _run(drawn):
        if isinstance(command, Elect):
            assert before is not None
            assert after.master is not None
            elected = before.replicas[after.master.id]
            assert elected.clean
            assert elected.life == after.master.life
            assert after.master.id in before.in_sync
            assert replace(after, in_sync=before.in_sync, set_version=before.set_version) == after
