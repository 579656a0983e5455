"""Configuration of a name server at its start."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from broker_core.namesrv.limits import RouteLimits, SettingLimits
from broker_core.protocol.networks import Networks
from broker_core.remoting import TlsSettings


@dataclass(frozen=True, slots=True)
class NameServerConfig:
    """Where to listen, what to save, when a broker expires (namesrv/README.md#expiry)."""

    host: str = "127.0.0.1"
    port: int = 9876  # 0: any free port
    settings_file: Path | None = None  # key-value settings; None keeps them in memory only
    broker_expiry_ms: int = 120_000  # a broker silent for longer is removed; brokers register every 30 s
    scan_interval_ms: int = 5_000
    order_message_enable: bool = False  # whether routes contain ORDER_TOPIC_CONFIG; off in RocketMQ too
    change_networks: Networks | None = None  # beside this machine; None: changes are taken from anywhere
    connections: int = 10_000
    header_bytes: int = 512 * 1024  # bytes; requests to a name server have short headers
    routes: RouteLimits = field(default_factory=RouteLimits)
    settings: SettingLimits = field(default_factory=SettingLimits)
    tls: TlsSettings = field(default_factory=TlsSettings)
