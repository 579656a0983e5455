"""Headers of brokers and administration with controllers, of 5.x with additions of ours (controller/README.md#wire).

A life is text such as `17-9f3a` (`bodies.controller`); a view is the (epoch, version) of the newest known state.
"""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header


@header(RequestCode.BROKER_HEARTBEAT)
class BrokerHeartbeatRequest:
    """Code 904: a replica lives. `epoch` is the one it is in, `max_offset` the end of its log.

    5.x has no field from `life` on. `last_epoch` is the newest in its log, `view_epoch` and `view_version` are of the
    newest state that it ever knew, also in an earlier life. `wants_state`: the answer has the state in any case.
    """

    cluster_name: str
    broker_name: str
    broker_id: I64
    broker_addr: str
    epoch: I32 = 0
    max_offset: I64 = 0
    confirm_offset: I64 = 0
    election_priority: I32 = (1 << 31) - 1
    life: str = ""
    last_epoch: I32 = 0
    view_epoch: I32 = 0
    view_version: I64 = 0
    wants_state: bool = False


@header()
class BrokerHeartbeatResponse:
    """Whether this controller leads, and for how long it grants the lease to the master of an epoch.

    `grant_ms` counts from when the heartbeat was sent; 0: no grant. The body is the state of the name if it is newer
    than the broker's view. `age_ms` is how old the controller's knowledge is.
    """

    leading: bool
    grant_ms: I64
    granted_epoch: I32
    age_ms: I64


@header(RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET)
class AlterSyncStateSetRequest:
    """Code 1001: the master changes the in-sync set; body SyncStateSet with lives, answered by SyncStateSet."""

    broker_name: str
    master_broker_id: I64
    master_epoch: I32
    life: str = ""


@header()
class AlterSyncStateSetResponse:
    """The version of the set after it."""

    new_sync_state_set_epoch: I32


@header(RequestCode.CONTROLLER_ELECT_MASTER)
class ElectMasterRequest:
    """Code 1002: elect a master; with `designate_elect` replica `broker_id`.

    Ours: `handed_over` says that the master takes no more sends and the chosen one has its whole log, so that nobody
    need ask for that (9003). `dry_run` is answered by Preview, and nothing changes.
    """

    cluster_name: str = ""
    broker_name: str = ""
    broker_id: I64 = -1
    designate_elect: bool = False
    handed_over: bool = False
    dry_run: bool = False


@header()
class ElectMasterResponse:
    """Who is master now; the body is SyncStateSet. 5.x does not say `handed_over`."""

    master_broker_id: I64 | None = None
    master_address: str | None = None
    master_epoch: I32 | None = None
    sync_state_set_epoch: I32 | None = None
    handed_over: bool | None = None
    """Whether the master before it waited until it had its whole log: then it lacks nothing."""


@header(RequestCode.CONTROLLER_REGISTER_BROKER)
class RegisterReplicaRequest:
    """Code 1003: a life of a replica begins; answered by RegisterReplicaResponse with the name's state as body.

    5.x has no field from `life` on. `clean` says that the store lost nothing that was acknowledged, `last_epoch` is the
    newest in its log.
    """

    cluster_name: str
    broker_name: str
    broker_id: I64
    broker_address: str
    life: str = ""
    ha_address: str = ""
    register_check_code: str = ""
    clean: bool = False
    last_epoch: I32 = 0
    max_offset: I64 = 0
    view_epoch: I32 = 0
    view_version: I64 = 0


@header()
class RegisterReplicaResponse:
    """Who is master, if there is one."""

    cluster_name: str
    broker_name: str
    master_broker_id: I64 | None = None
    master_address: str | None = None
    master_epoch: I32 | None = None
    sync_state_set_epoch: I32 | None = None


@header(RequestCode.CONTROLLER_GET_REPLICA_INFO)
class GetReplicaInfoRequest:
    """Code 1004: who is master of a name; answered by GetReplicaInfoResponse and SyncStateSet."""

    broker_name: str


@header()
class GetReplicaInfoResponse:
    """Who is master, if there is one."""

    master_broker_id: I64 | None = None
    master_address: str | None = None
    master_epoch: I32 | None = None


@header(RequestCode.CONTROLLER_GET_METADATA_INFO)
class GetMetadataInfoRequest:
    """Code 1005: which controller leads; answered by GetMetadataInfoResponse and ControllerInfo."""


@header()
class GetMetadataInfoResponse:
    """The leading controller, and whether it is the one that was asked. `peers` are separated by semicolons."""

    group: str = ""
    controller_leader_id: str = ""
    controller_leader_address: str = ""
    is_leader: bool = False
    peers: str = ""


@header(RequestCode.CONTROLLER_GET_SYNC_STATE_DATA)
class GetSyncStateDataRequest:
    """Code 1006: the replicas of the names in the body, a list, or of all names; answered by BrokerReplicasInfo."""


@header(RequestCode.CLEAN_BROKER_DATA)
class CleanBrokerDataRequest:
    """Code 1011: forget replicas, ids separated by semicolons; those that are heard only if asked for.

    `forced`, ours, forgets even the last that has every acknowledged message; `dry_run` is answered by Preview.
    """

    broker_name: str
    cluster_name: str | None = None
    broker_controller_ids_to_clean: str | None = None
    is_clean_living_broker: bool = False
    forced: bool = False
    dry_run: bool = False


@header(RequestCode.CONTROLLER_GET_NEXT_BROKER_ID)
class GetNextBrokerIdRequest:
    """Code 1012: the id for a new replica; answered by GetNextBrokerIdResponse."""

    cluster_name: str
    broker_name: str


@header()
class GetNextBrokerIdResponse:
    """The id to apply for."""

    cluster_name: str
    broker_name: str
    next_broker_id: I64


@header(RequestCode.CONTROLLER_APPLY_BROKER_ID)
class ApplyBrokerIdRequest:
    """Code 1013: take an id; the check code tells the folder again. Answered by ApplyBrokerIdResponse.

    The newest view that is known is ours.
    """

    cluster_name: str
    broker_name: str
    applied_broker_id: I64
    register_check_code: str
    view_epoch: I32 = 0
    view_version: I64 = 0


@header()
class ApplyBrokerIdResponse:
    """The id is the replica's."""

    cluster_name: str
    broker_name: str


@header(RequestCode.NAME_STATE)
class NameStateRequest:
    """Code 9001 (Gantry): the state of a name.

    Asked of a controller, or by it of a broker: answered with the state as body. One-way with a body: a controller
    tells a broker the newest state.
    """

    broker_name: str


@header()
class NameStateResponse:
    """What the controller that answers thinks of the name; `age_ms` is how old its knowledge is."""

    leading: bool = False
    set_back: bool = False
    age_ms: I64 = 0
    stuck: str | None = None


@header(RequestCode.HAND_OVER)
class HandOverRequest:
    """Code 9003 (Gantry): a controller asks the master of `epoch` to take no sends until a replica has its end.

    Answered by 0 when it has, or with the reason why it does not. A master that sees no other one within `timeout_ms`
    takes sends again.
    """

    broker_name: str
    epoch: I32
    to_broker_id: I64
    timeout_ms: I64


@header(RequestCode.SET_REPLICA_POLICY)
class SetReplicaPolicyRequest:
    """Code 9004 (Gantry): what operators decide for a name; answered by Preview."""

    broker_name: str
    min_in_sync_replicas: I32 | None = None
    unclean_allowed: bool | None = None
    dry_run: bool = False


@header(RequestCode.ACCEPT_LOSS)
class AcceptLossRequest:
    """Code 9005 (Gantry): make a replica master that may lack acknowledged messages; answered by Preview."""

    broker_name: str
    broker_id: I64
    dry_run: bool = False


@header(RequestCode.ADOPT_STATE)
class AdoptStateRequest:
    """Code 9006 (Gantry): go on from a state that was set back, with these replicas as the in-sync set.

    Ids are separated by semicolons. Answered by Preview.
    """

    broker_name: str
    cluster_name: str
    broker_ids: str
    dry_run: bool = False


@header(RequestCode.EXCHANGE_BROKER_HA_INFO)
class ExchangeHaInfoRequest:
    """Code 906: a slave asks its master before it opens the stream with epochs; refused with a reason.

    The fields of 5.x are for acting masters; ours are those from `broker_id` on.
    """

    master_ha_address: str | None = None
    master_flush_offset: I64 | None = None
    master_address: str | None = None
    broker_id: I64 | None = None
    life: str | None = None
    segment_size: I64 | None = None
    epoch: I32 | None = None
    newest_only: bool | None = None
    empty: bool | None = None


@header()
class ExchangeHaInfoResponse:
    """A master's answer: the ticket of the stream's handshake, and the log offset at which a copy begins are ours.

    The body for a slave that is `empty` is QueueEnds.
    """

    master_ha_address: str | None = None
    master_flush_offset: I64 | None = None
    master_address: str | None = None
    ticket: I64 | None = None
    begin: I64 | None = None


@header(RequestCode.GET_BROKER_EPOCH_CACHE)
class GetBrokerEpochCacheRequest:
    """Code 1007: the epochs of a broker's log; answered by EpochEntryCache."""


@header(RequestCode.NOTIFY_BROKER_ROLE_CHANGED)
class NotifyBrokerRoleChangedRequest:
    """Code 1008: a hint that a name has another master or set; the body is SyncStateSet. A state decides, not this."""

    master_address: str | None = None
    master_epoch: I32 | None = None
    sync_state_set_epoch: I32 | None = None
    master_broker_id: I64 | None = None


@header(RequestCode.METADATA_CHANGES)
class MetadataChangesRequest:
    """Code 9002 (Gantry): what changed beside the log of the master of `epoch` since `after`; -1: everything.

    The answer may wait so long for a change that somebody waits for; its body is BrokerState.
    """

    broker_name: str
    broker_id: I64
    life: str
    epoch: I32
    after: I64 = -1
    wait_ms: I64 = 0


@header()
class MetadataChangesResponse:
    """The number to ask after the next time."""

    epoch: I32
    changes: I64
