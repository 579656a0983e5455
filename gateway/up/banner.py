"""The text printed when everything is up: address, login, and a command to paste."""

from __future__ import annotations

import shlex

from gateway.up.config import UpConfig
from gateway.up.first_run import TOKEN_FILE, TOPIC, Admin

_RULE = "─" * 72


def banner(config: UpConfig, admin: Admin) -> str:
    """Return the text; it contains the password only in the run that created it."""
    if admin.password:
        password = f"{admin.password}   (shown only now)"
    else:
        password = "as set in GANTRY_ADMIN_PASSWORD" if admin.is_new else "unchanged"
    token = shlex.quote(str(config.data / TOKEN_FILE))
    return "\n".join(
        (
            _RULE,
            f"  Gantry is up      {config.console_url}",
            f"  log in as         {admin.username}",
            f"                    password  {password}",
            f"  name server       {config.reachable_host}:{config.namesrv_port}   (for RocketMQ clients)",
            *_brokers(config),
            "",
            "  send a message:",
            f"  curl -H \"Authorization: Bearer $(cat {token})\" -H 'Content-Type: application/json' \\",
            '    -d \'{"keys":["A17"],"body":{"encoding":"json","data":{"id":"A17"}}}\' \\',
            f"    {config.console_url}/api/v1/clusters/local/topics/{TOPIC}/messages",
            "",
            "  Ctrl-C stops everything.",
            _RULE,
            "",
        )
    )


def _brokers(config: UpConfig) -> tuple[str, ...]:
    """Return a line for several brokers; one needs none, since the name server tells of it."""
    if config.brokers == 1:
        return ()
    return ("  brokers           " + ", ".join(f"{name} {port}" for name, port in config.broker_ports.items()),)
