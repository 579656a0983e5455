"""Headers of other administration: broker settings, figures, access control."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import header


@header(RequestCode.GET_BROKER_RUNTIME_INFO)
class GetBrokerRuntimeInfoRequest:
    """Code 28: the broker's figures; answered by KVTable (protocol/README.md#administration)."""


@header(RequestCode.UPDATE_BROKER_CONFIG)
class UpdateBrokerConfigRequest:
    """Code 25: change settings; the body is ``key=value`` lines."""


@header(RequestCode.GET_BROKER_CONFIG)
class GetBrokerConfigRequest:
    """Code 26: all settings as ``key=value`` lines."""


@header()
class GetBrokerConfigResponse:
    """The settings' DataVersion as JSON text."""

    version: str


@header(RequestCode.VIEW_BROKER_STATS_DATA)
class ViewBrokerStatsDataRequest:
    """Code 315: one statistic over a minute, an hour, a day; answered by BrokerStatsData."""

    stats_name: str
    stats_key: str


@header(RequestCode.UPDATE_AND_CREATE_ACL_CONFIG)
class CreateAccessConfigRequest:
    """Code 50: create or change an account. Permissions are a comma list, ``t1=PUB,t2=SUB``."""

    access_key: str
    secret_key: str | None = None
    white_remote_address: str | None = None
    admin: bool = False
    default_topic_perm: str | None = None
    default_group_perm: str | None = None
    topic_perms: str | None = None
    group_perms: str | None = None


@header(RequestCode.DELETE_ACL_CONFIG)
class DeleteAccessConfigRequest:
    """Code 51: delete an account."""

    access_key: str


@header(RequestCode.GET_BROKER_CLUSTER_ACL_INFO)
class GetBrokerAccessInfoRequest:
    """Code 52: the versions of the account files."""


@header()
class GetBrokerAccessInfoResponse:
    """Versions as JSON text."""

    version: str
    broker_name: str
    broker_addr: str
    cluster_name: str
    all_acl_file_version: str | None = None


@header(RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG)
class UpdateGlobalWhiteAddrsRequest:
    """Code 53: the addresses that need no signature, a comma list."""

    global_white_addrs: str
    acl_file_full_path: str | None = None


@header(RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG)
class GetBrokerAccessConfigRequest:
    """Code 54, until 4.9.7: all accounts."""

    secret_nonce: str | None = None
    """Gantry's: with it the broker tells a digest of each secret (`broker_core.protocol.secret_digest`)."""
