"""Headers of requests to name servers."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header


@header(RequestCode.REGISTER_BROKER)
class RegisterBrokerRequest:
    """Code 103: a broker and its topics; the body is RegisterBrokerBody. `body_crc32` 0 means unchecked."""

    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: I64
    ha_server_addr: str = ""
    compressed: bool = False
    body_crc32: I32 = 0
    heartbeat_timeout_millis: I64 | None = None  # 5.x
    enable_acting_master: bool | None = None  # 5.x


@header()
class RegisterBrokerResponse:
    """For a slave: the address of its master."""

    ha_server_addr: str | None = None
    master_addr: str | None = None


@header(RequestCode.UNREGISTER_BROKER)
class UnregisterBrokerRequest:
    """Code 104: remove a broker."""

    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: I64


@header(RequestCode.QUERY_DATA_VERSION)
class QueryDataVersionRequest:
    """Code 322: whether the name server knows this version of a broker's topics. The body is DataVersion."""

    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: I64


@header()
class QueryDataVersionResponse:
    """Whether the broker must register again."""

    changed: bool


@header(RequestCode.GET_ROUTEINFO_BY_TOPIC)
class GetRouteInfoRequest:
    """Code 105: the brokers and queues of a topic; answered by TopicRouteData."""

    topic: str
    accept_standard_json_only: bool | None = None


@header(RequestCode.GET_BROKER_CLUSTER_INFO)
class GetBrokerClusterInfoRequest:
    """Code 106: all clusters and brokers; answered by ClusterInfo."""


@header(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
class GetAllTopicListRequest:
    """Code 206: all topic names; answered by TopicList."""


@header(RequestCode.GET_TOPICS_BY_CLUSTER)
class GetTopicsByClusterRequest:
    """Code 224: the topics of one cluster; answered by TopicList."""

    cluster: str


@header(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)
class GetSystemTopicListFromNameServerRequest:
    """Code 304: cluster and broker names, and one broker to query for more; answered by TopicList."""


@header(RequestCode.GET_UNIT_TOPIC_LIST)
class GetUnitTopicListRequest:
    """Code 311: topics of a unit; answered by TopicList."""


@header(RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST)
class GetHasUnitSubTopicListRequest:
    """Code 312: topics that a unit subscribes to; answered by TopicList."""


@header(RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST)
class GetHasUnitSubUnunitTopicListRequest:
    """Code 313: topics that a unit subscribes to and that belong to none; answered by TopicList."""


@header(RequestCode.DELETE_TOPIC_IN_NAMESRV)
class DeleteTopicInNameServerRequest:
    """Code 216: remove a topic, in one cluster or everywhere."""

    topic: str
    cluster_name: str | None = None


@header(RequestCode.WIPE_WRITE_PERM_OF_BROKER)
class WipeWritePermRequest:
    """Code 205: remove the write permission from all topics of a broker name."""

    broker_name: str


@header()
class WipeWritePermResponse:
    """The number of topics changed."""

    wipe_topic_count: I32


@header(RequestCode.ADD_WRITE_PERM_OF_BROKER)
class AddWritePermRequest:
    """Code 327: give all topics of a broker name read and write permission."""

    broker_name: str


@header()
class AddWritePermResponse:
    """The number of topics changed."""

    add_topic_count: I32


@header(RequestCode.PUT_KV_CONFIG)
class PutKvConfigRequest:
    """Code 100: save a setting."""

    namespace: str
    key: str
    value: str


@header(RequestCode.GET_KV_CONFIG)
class GetKvConfigRequest:
    """Code 101: read a setting; code 22 if there is none."""

    namespace: str
    key: str


@header()
class GetKvConfigResponse:
    """The setting's value."""

    value: str


@header(RequestCode.DELETE_KV_CONFIG)
class DeleteKvConfigRequest:
    """Code 102: delete a setting."""

    namespace: str
    key: str


@header(RequestCode.GET_KVLIST_BY_NAMESPACE)
class GetKvListByNamespaceRequest:
    """Code 219: all settings of a namespace; answered by KVTable."""

    namespace: str


@header(RequestCode.UPDATE_NAMESRV_CONFIG)
class UpdateNameServerConfigRequest:
    """Code 318: change the name server's configuration; the body is ``key=value`` lines."""


@header(RequestCode.GET_NAMESRV_CONFIG)
class GetNameServerConfigRequest:
    """Code 319: the name server's configuration as ``key=value`` lines."""
