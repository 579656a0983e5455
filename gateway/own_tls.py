"""TLS of the embedded brokers and name server, from the environment: what they are told, and how to reach them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from broker_core.remoting import ClientTlsFiles, TlsMode, TlsRefused, TlsSettings
from gateway import env

_NAMES: Final = {
    "GANTRY_TLS_MODE": "tls.server.mode",
    "GANTRY_TLS_CERT": "tls.server.certPath",
    "GANTRY_TLS_KEY": "tls.server.keyPath",
    "GANTRY_TLS_KEY_PASSWORD": "tls.server.keyPassword",
    "GANTRY_TLS_CA": "tls.server.trustCertPath",
    "GANTRY_TLS_CLIENT_AUTH": "tls.server.need.client.auth",
    "GANTRY_TLS_CLIENT_CERT": "tls.client.certPath",
    "GANTRY_TLS_CLIENT_KEY": "tls.client.keyPath",
    "GANTRY_TLS_CLIENT_KEY_PASSWORD": "tls.client.keyPassword",
}
_SETTING: Final = re.compile(r"GANTRY_TLS_[A-Z_]+")
_PATHS: Final = frozenset(
    {"GANTRY_TLS_CERT", "GANTRY_TLS_KEY", "GANTRY_TLS_CA", "GANTRY_TLS_CLIENT_CERT", "GANTRY_TLS_CLIENT_KEY"}
)


@dataclass(frozen=True)
class OwnTls:
    """The settings of brokers and name server by RocketMQ's names, and the TLS of clients on this machine."""

    texts: Mapping[str, str]
    client: ClientTlsFiles | None


def own_tls(environ: Mapping[str, str] = os.environ) -> OwnTls:
    """Return what the environment says; raise BadSetting for what cannot be used together, or files that cannot.

    Where only TLS is served, clients of Gantry's own trust the very certificate that is served, whatever host it names,
    and present it if clients need one: they run on the same machine. In permissive mode they connect in plaintext.
    """
    texts = {rocketmq: text for name, rocketmq in _NAMES.items() if (text := _text(name, environ))}
    try:
        settings = TlsSettings.of(texts)
        settings.server()
        client = _client(settings) if settings.server_mode is TlsMode.ENFORCING else None
        if client is not None:
            client.context()
    except TlsRefused as error:
        words = _ours(str(error))
        named = _SETTING.search(words)
        name = "GANTRY_TLS_CERT" if named is None else named[0]
        raise env.BadSetting(name, texts.get(_NAMES[name], ""), words) from error
    return OwnTls(texts, client)


def _client(settings: TlsSettings) -> ClientTlsFiles | None:
    own = settings.client()
    if own is None:
        return None
    return ClientTlsFiles(
        authorities=env.path(settings.certificate),
        certificate=own.certificate,
        key=own.key,
        key_password=own.key_password,
        checks_host=False,
    )


def _text(name: str, environ: Mapping[str, str]) -> str:
    given = env.text(name, environ=environ)
    return str(env.path(given)) if given and name in _PATHS else given


def _ours(text: str) -> str:
    """Return a text with the names that its reader has set."""
    for name, rocketmq in sorted(_NAMES.items(), key=lambda pair: -len(pair[1])):
        text = text.replace(rocketmq, name)
    return f"TLS settings that fit together; {text}"
