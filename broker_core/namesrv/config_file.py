"""The configuration file of a name server, as RocketMQ's takes it with ``-c``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from broker_core.namesrv.options import CHANGE_NETWORKS, CHANGEABLE
from broker_core.properties_file import Rule, absolute_path, by_rules, only, read_pairs, tcp_port, without_effect
from broker_core.protocol.networks import Networks
from broker_core.remoting.tls_settings import NAMES as TLS_NAMES

_SWITCH: Final = {"true": True, "false": False}
_WITHOUT_EFFECT: Final = (
    "rocketmqHome", "productEnvName", "serverWorkerThreads", "serverCallbackExecutorThreads", "serverSelectorThreads",
    "serverOnewaySemaphoreValue", "serverAsyncSemaphoreValue", "serverSocketSndBufSize", "serverSocketRcvBufSize",
    "serverPooledByteBufAllocatorEnable", "serverSocketBacklog", "useEpollNativeSelector", "writeBufferHighWaterMark",
    "writeBufferLowWaterMark",
    # Of 5.x.
    "clientRequestThreadPoolNums", "clientRequestThreadPoolQueueCapacity", "defaultThreadPoolNums",
    "defaultThreadPoolQueueCapacity", "serverNettyWorkerGroupEnable", "shutdownWaitTimeSeconds",
    "unRegisterBrokerQueueCapacity", "waitSecondsForService",
    # As a client of other name servers, which it is of none.
    "channelNotActiveInterval", "clientAsyncSemaphoreValue", "clientCallbackExecutorThreads",
    "clientChannelMaxIdleTimeSeconds", "clientCloseSocketIfTimeout", "clientOnewaySemaphoreValue",
    "clientPooledByteBufAllocatorEnable", "clientSocketRcvBufSize", "clientSocketSndBufSize", "clientWorkerThreads",
    "connectTimeoutMillis", "disableCallbackExecutor", "disableNettyWorkerGroup", "enableReconnectForGoAway",
    "isScanAvailableNameSrv", "maxReconnectIntervalTimeSeconds", "socksProxyConfig", "useTLS",
    # Started with a file, RocketMQ replaces it by the file itself.
    "configStorePath",
)  # fmt: skip
_OFF: Final = (
    "clusterTest", "deleteTopicWithBrokerRegistration", "enableShutdownGracefully",
    "needWaitForService", "notifyMinBrokerIdChanged", "supportActingMaster",
)  # fmt: skip
_ON: Final = ("enableAllTopicList", "enableTopicList", "returnOrderTopicConfigToBroker")
OF_CONTROLLER: Final = (
    "controllerClusterName", "controllerDLegerPeers", "controllerDLegerSelfId", "controllerEtcdCaFile",
    "controllerEtcdCertFile", "controllerEtcdEndpoints", "controllerEtcdKeyFile", "controllerEtcdPasswordFile",
    "controllerEtcdPrefix", "controllerEtcdTimeout", "controllerEtcdUser", "controllerHeartBeatTimeoutMills",
    "controllerLeaderTtl", "controllerStorePath", "controllerType", "enableControllerInNamesrv",
    "enableElectUncleanMaster", "jraftConfig",
)  # fmt: skip
"""What whoever hosts a controller tells it."""
EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - as RocketMQ does, whose file it is
USUAL_SETTINGS: Final = "~/namesrv/kvConfig.json"
"""Where RocketMQ keeps key-value settings when a file does not say where."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a file says."""

    fields: dict[str, Any]
    """Those of NameServerConfig by name, ``tls`` as texts."""
    without_effect: tuple[str, ...]
    """The names that were taken and do nothing."""
    controller: Mapping[str, str] = field(default_factory=dict)
    """The settings of a controller, as texts."""


def read_config(file: Path) -> ConfigFile:
    """Return what a file says; the settings file is RocketMQ's if none is named.

    Raises BadPropertiesFile, which names everything that is refused.
    """
    found = by_rules(file, {"kvConfigPath": USUAL_SETTINGS} | read_pairs(file), _RULES)
    fields = {_FIELDS[name]: value for name, value in found.items() if name in _FIELDS}
    tls = {name: text for name, text in found.items() if name in TLS_NAMES}
    return ConfigFile(
        fields={"host": EVERYWHERE} | fields | ({"tls": tls} if tls else {}),
        without_effect=tuple(sorted(found.keys() & _WITHOUT_EFFECT)),
        controller={name: text for name, text in found.items() if name in OF_CONTROLLER},
    )


def _switch(text: str) -> bool:
    if text.lower() not in _SWITCH:
        raise ValueError(f"{text[:80]!r} is not true or false")
    return _SWITCH[text.lower()]


def _milliseconds(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 100 <= int(text[:12]) <= 3_600_000):
        raise ValueError(f"{text[:80]!r} is not a number from 100 to 3,600,000")
    return int(text)


def _black_list(text: str) -> str:
    if any(name.strip() in CHANGEABLE for name in text.split(";")):
        raise ValueError(f"{text[:80]!r} is not served: {' and '.join(sorted(CHANGEABLE))} can always be changed")
    return text


_FIELDS: Final = {
    "bindAddress": "host",
    "listenPort": "port",
    "kvConfigPath": "settings_file",
    "orderMessageEnable": "order_message_enable",
    "scanNotActiveBrokerInterval": "scan_interval_ms",
    CHANGE_NETWORKS: "change_networks",
}
_RULES: Final[dict[str, Rule]] = {
    **dict.fromkeys(_WITHOUT_EFFECT, without_effect),
    **dict.fromkeys(TLS_NAMES, str),
    **dict.fromkeys(OF_CONTROLLER, str),
    **{name: only("false") for name in _OFF},
    **{name: only("true") for name in _ON},
    "serverChannelMaxIdleTimeSeconds": only("120"),
    "configBlackList": _black_list,
    "bindAddress": str,
    "listenPort": tcp_port,
    "kvConfigPath": absolute_path,
    "orderMessageEnable": _switch,
    "scanNotActiveBrokerInterval": _milliseconds,
    CHANGE_NETWORKS: Networks.parse,
}
