"""The text printed when everything is up: address, login, and a command to paste."""

from __future__ import annotations

import shlex

from gateway.up.config import UpConfig
from gateway.up.first_run import TOKEN_FILE, TOPIC, Admin
from gateway.up.replicas import Known

_RULE = "─" * 72


def banner(config: UpConfig, admin: Admin, known: Known | None = None) -> str:
    """Return the text; it contains the password only in the run that created it.

    `known` is what the controller told of several replicas.
    """
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
            *_brokers(config, known or Known()),
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


def _brokers(config: UpConfig, known: Known) -> tuple[str, ...]:
    """Return a line for several brokers or replicas; one needs none, since the name server tells of it."""
    ports = config.broker_ports
    if len(ports) == 1:
        return ()
    what = "replicas" if config.replicas > 1 else "brokers"
    return (f"  {what:<18}" + ", ".join(f"{name} {port}{_role(name, known)}" for name, port in ports.items()),)


def _role(name: str, known: Known) -> str:
    """Return the id by which API and tools know a replica, and whether it is master, in brackets."""
    words = [f"id {known.ids[name]}"] if name in known.ids else []
    words += ["master"] if name == known.master else []
    return f" ({', '.join(words)})" if words else ""
