import pytest

from broker_core.broker.replication.controller_words import (
    Place,
    answered,
    command_request,
    heard,
    heartbeat_request,
)
from broker_core.broker.replication.messages import (
    AlterSet,
    Answered,
    ApplyId,
    Command,
    Heard,
    Held,
    Hold,
    NextId,
    Outcome,
    Register,
    SendHeartbeat,
)
from broker_core.protocol import bodies
from broker_core.protocol.bodies.controller import MasterLife, encode_state, new_state
from broker_core.protocol.bodies.replicas import SyncStateSet
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command as Request
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers import controller as headers

PLACE = Place("C", "b", "10.0.0.1:10911", priority=7)
BEAT = SendHeartbeat(2, "5-ab", epoch=4, end=900, confirm=800, last_epoch=3, known=(4, 11), wants_state=True)


def test_a_heartbeat_tells_where_the_log_ends_and_what_is_known() -> None:
    header = heartbeat_request(PLACE, BEAT).header(headers.BrokerHeartbeatRequest)

    assert (header.broker_id, header.life, header.epoch, header.max_offset, header.confirm_offset) == (
        2, "5-ab", 4, 900, 800,
    )  # fmt: skip
    assert (header.last_epoch, header.view_epoch, header.view_version, header.election_priority) == (3, 4, 11, 7)
    assert header.wants_state


def answer_of(header: object, body: bytes = b"") -> Request:
    return Request.response(ResponseCode.SUCCESS, header, body=body)


def test_a_grant_counts_for_the_epoch_that_the_controller_told() -> None:
    state = new_state("b", "C")
    answer = answer_of(headers.BrokerHeartbeatResponse(leading=True, grant_ms=2500, granted_epoch=4, age_ms=0))
    assert heard(1, 7.5, answer) == Heard(1, 7.5, True, 2.5, 4, None)

    told = answer_of(headers.BrokerHeartbeatResponse(False, 0, 0, 0), encode_state(state))
    assert heard(0, 7.5, told) == Heard(0, 7.5, False, 0.0, 0, state)


def test_an_answer_without_its_fields_is_malformed() -> None:
    with pytest.raises(ProtocolError):
        heard(0, 0.0, Request.response(ResponseCode.SUCCESS))


REGISTER = Register(2, "5-ab", "check", "a:1", "a:2", True, 900, 3, 4)
ALTER = AlterSet(2, "5-ab", 4, 12, (MasterLife(2, "5-ab"), MasterLife(1, "9-cd")))


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (NextId(), RequestCode.CONTROLLER_GET_NEXT_BROKER_ID),
        (ApplyId(2, "check"), RequestCode.CONTROLLER_APPLY_BROKER_ID),
        (REGISTER, RequestCode.CONTROLLER_REGISTER_BROKER),
        (ALTER, RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET),
    ],
)
def test_every_command_has_its_request(command: Command, code: RequestCode) -> None:
    assert command_request(PLACE, command).code == code


def test_who_has_no_id_yet_tells_what_it_knows() -> None:
    asked = command_request(PLACE, ApplyId(2, "check", (3, 17))).header(headers.ApplyBrokerIdRequest)
    assert (asked.applied_broker_id, asked.view_epoch, asked.view_version) == (2, 3, 17)


def test_a_set_is_asked_for_with_the_lives_of_its_members() -> None:
    body = bodies.decode(SyncStateSet, command_request(PLACE, ALTER).body)
    assert body == SyncStateSet([1, 2], 12, {1: "9-cd", 2: "5-ab"})


def test_an_answer_is_done_refused_or_to_be_asked_elsewhere() -> None:
    assert answered(3, ALTER, Request.response(ResponseCode.CONTROLLER_NOT_LEADER)) == Answered(3, Outcome.ASK_ANOTHER)
    refused = Request.response(ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH, remark="another epoch")
    assert answered(3, ALTER, refused) == Answered(3, Outcome.REFUSED, held=Held(Hold.REFUSED, "another epoch"))
    gone = Request.response(ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED, remark="no replica 2")
    assert answered(3, REGISTER, gone) == Answered(3, Outcome.REFUSED, held=Held(Hold.REMOVED, "no replica 2"))
    given = answer_of(headers.GetNextBrokerIdResponse("C", "b", 3))
    assert answered(1, NextId(), given) == Answered(1, Outcome.DONE, broker_id=3)
    registered = answer_of(headers.RegisterReplicaResponse("C", "b"), encode_state(new_state("b", "C")))
    assert answered(2, REGISTER, registered) == Answered(2, Outcome.DONE, new_state("b", "C"))
