"""What a replica is told and what it wants done: the words between `replica.py` and its rim.

Everything is a value. The rim carries effects out **in the order of the list**; one that it cannot carry out ends the
process, except `Ask`, `SendHeartbeat`, `AskMaster`, `OpenStream` and `SendToMaster`/`SendToSlave`, which may get lost.
broker/replication/README.md#automatic-failover.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from broker_core.broker.replication.replica_store import QueueEnds
from broker_core.broker.role import Role
from broker_core.protocol.bodies.controller import MasterLife, NameState
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.ha_epochs import MasterHandshake, Report, SlaveHandshake

# To and from controllers


@dataclass(frozen=True, slots=True)
class SendHeartbeat:
    """Effect: tell every controller (904). `known` is the newest (epoch, version) that was ever known here."""

    broker_id: int
    life: str
    epoch: int
    end: int
    confirm: int
    last_epoch: int
    known: tuple[int, int]
    wants_state: bool
    """The answer is to have the state in any case."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Told: a controller's answer to the heartbeat that left at `sent_at`, or its push (9001: grant 0).

    `grant` are the seconds for which the master of `granted_epoch` may count on being the only one; 0 from a controller
    that does not lead.
    """

    controller: int
    sent_at: float
    is_leading: bool = False
    grant: float = 0.0
    granted_epoch: int = 0
    state: NameState | None = None


@dataclass(frozen=True, slots=True)
class NextId:
    """Command: tell the id that the next new replica gets."""


@dataclass(frozen=True, slots=True)
class ApplyId:
    """Command: give this process the id; whoever has the check code gets it again. `known` as in a heartbeat."""

    broker_id: int
    check: str
    known: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Register:
    """Command: this life runs now. Epoch and version are of the newest state that the replica ever heard of."""

    broker_id: int
    life: str
    check: str
    address: str
    ha: str
    is_clean: bool
    end: int
    last_epoch: int
    known_epoch: int
    known_version: int = 0


@dataclass(frozen=True, slots=True)
class AlterSet:
    """Command of a master: the in-sync set is to be `members` if it still has `set_version`."""

    broker_id: int
    life: str
    epoch: int
    set_version: int
    members: tuple[MasterLife, ...]


Command: TypeAlias = NextId | ApplyId | Register | AlterSet


@dataclass(frozen=True, slots=True)
class Ask:
    """Effect: send a command to one controller, by its place in the list of controllers."""

    controller: int
    number: int
    command: Command


class Hold(Enum):
    """Why a replica takes no part until somebody does something; the values are those of the figure `replicaHeld`."""

    AHEAD = "ahead"  # the master lacks a part of its log that every replica had, as after an accepted loss
    APART = "apart"  # it is in the in-sync set, and its log has nothing in common with the master's
    DAMAGED = "damaged"  # its store does not do what it should
    REPLACED = "replaced"  # its id runs in a later life, elsewhere
    REMOVED = "removed"  # its id was removed
    REFUSED = "refused"  # controllers refuse it for another reason, such as the name of the cluster


@dataclass(frozen=True, slots=True)
class Held:
    """That a replica takes no part by itself, with the reason for people."""

    why: Hold
    reason: str
    common_end: int | None = None
    """Up to where its log is the master's, where that was found out."""


class Outcome(Enum):
    """What became of a command."""

    DONE = "done"
    REFUSED = "refused"
    ASK_ANOTHER = "ask another"  # 2007: does not lead, or the engine did not answer


@dataclass(frozen=True, slots=True)
class Answered:
    """Told: the answer to the command `number`. `broker_id` answers a NextId."""

    number: int
    outcome: Outcome
    state: NameState | None = None
    broker_id: int = 0
    held: Held | None = None
    """Of a refusal: what it means for a replica that cannot go on without this command."""


# Between replicas


@dataclass(frozen=True, slots=True)
class Exchange:
    """Request of a slave before it connects (906)."""

    broker_id: int
    life: str
    epoch: int
    segment_bytes: int
    is_newest_only: bool = False
    is_empty: bool = False
    """The slave has no log: it is to be told of the queues that lie before the copy."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A master's answer: the ticket of the stream's handshake, and where a copy of its log begins.

    `queue_ends` are those of the queues that have no message there or behind it.
    """

    ticket: int
    begin: int
    queue_ends: QueueEnds = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refused:
    """A master's answer: no stream, for a reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class AskMaster:
    """Effect of a slave: send the request to the master's main port; the answer goes to `Replica.exchanged`."""

    link: int
    address: str
    request: Exchange


@dataclass(frozen=True, slots=True)
class OpenStream:
    """Effect of a slave: connect to the master's replication port and send the handshake."""

    link: int
    ha: str
    handshake: SlaveHandshake


@dataclass(frozen=True, slots=True)
class SendToMaster:
    """Effect of a slave."""

    link: int
    message: Report


@dataclass(frozen=True, slots=True)
class LeaveMaster:
    """Effect of a slave: close its stream, or give up opening it; nothing more of it is to be told."""

    link: int


@dataclass(frozen=True, slots=True)
class SendToSlave:
    """Effect of a master."""

    link: int
    message: MasterHandshake


@dataclass(frozen=True, slots=True)
class CloseSlave:
    """Effect of a master: close a slave's stream, for a reason; nothing more of it is to be told."""

    link: int
    reason: str


@dataclass(frozen=True, slots=True)
class Span:
    """What a master sends next on a stream: `size` bytes of its log from `log_offset`; 0 is a heartbeat."""

    log_offset: int
    size: int
    epoch: int
    epoch_start: int
    confirm: int


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Effect: answer the request to hand over (9003): no sends are taken, and `to` has the whole log."""

    to: int


# Inside the broker


@dataclass(frozen=True, slots=True)
class Become:
    """Effect: serve as this from now on.

    As a master: the tables of the broker are installed before, sends are taken and background work begins after it. As
    anything else: sends are refused or forwarded, parked pulls answered, background work ended.
    """

    role: Role


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Effect: every member of the in-sync set has the log up to here. Answer waiting sends, dispatch, show."""

    upto: int


class Refusal(Enum):
    """Why a send is not taken, or not answered."""

    FENCED = "this replica does not know its role yet"
    NOT_MASTER = "this replica is not the master"
    DEPOSED = "another replica was elected; whether the message was stored is not known"
    SWITCHING = "a switch to another replica is under way"
    SET_TOO_SMALL = "fewer replicas are in sync than minInSyncReplicas asks for"
    NO_LEASE = "the controllers are out of reach, and so is a replica of the in-sync set"
    NO_ROOM = "the disk has no room for what this replica is told"
    UNCONFIRMED = "too much waits for the other replicas"

    @property
    def code(self) -> ResponseCode:
        """The response code of a refused send."""
        busy = self is Refusal.UNCONFIRMED
        return ResponseCode.SYSTEM_BUSY if busy else ResponseCode.SERVICE_NOT_AVAILABLE


@dataclass(frozen=True, slots=True)
class RefuseWaiting:
    """Effect: answer all sends that wait for a confirmation with the reason."""

    reason: Refusal


@dataclass(frozen=True, slots=True)
class SaveIdentity:
    """Effect: write `brokerIdentity`, synced, before the effects behind it."""

    identity: Identity


@dataclass(frozen=True, slots=True)
class BeginAnew:
    """Effect: nothing here can be used. Rename the store's folder, open an empty store, and start as a new life."""

    reason: str


@dataclass(frozen=True, slots=True)
class Halt:
    """Effect: stop, tell the reason, change nothing. An operator has to look."""

    held: Held


@dataclass(frozen=True, slots=True)
class Identity:
    """What a replica knows about itself beyond its process (broker/replication/README.md#identity)."""

    cluster: str
    name: str
    broker_id: int  # 0: it has none yet
    check: str
    life: str
    applied_id: int = 0
    """The id that it asks for, as long as it has none."""
    is_unclean: bool = False
    """A tail of the log may be lost, and the controllers may not know it yet."""
    known: tuple[int, int] = field(default=(0, 0))
    """The newest (epoch, version) of the name's state that it ever knew."""


Effect: TypeAlias = (
    SendHeartbeat
    | Ask
    | AskMaster
    | OpenStream
    | SendToMaster
    | LeaveMaster
    | SendToSlave
    | CloseSlave
    | HandedOver
    | Become
    | Confirmed
    | RefuseWaiting
    | SaveIdentity
    | BeginAnew
    | Halt
)
