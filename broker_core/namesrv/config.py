"""Settings that a name server gets at its start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class NameServerConfig:
    """Where to listen, what to keep, when a broker is gone (namesrv/README.md#expiry)."""

    host: str = "127.0.0.1"
    port: int = 9876  # 0 takes any free one
    settings_file: Path | None = None  # key-value settings; None keeps them in memory only
    broker_expiry_ms: int = 120_000  # a broker silent for longer is gone; it registers every 30 s
    scan_interval_ms: int = 5_000
    order_message_enable: bool = False  # whether routes carry ORDER_TOPIC_CONFIG, off in RocketMQ as well
    connections: int = 10_000
    header_bytes: int = 512 * 1024  # bytes; no request to a name server has a long one
