"""What went wrong with TLS, in words for whoever has to repair it."""

from __future__ import annotations

import re
import ssl
from typing import Final

_ALERT: Final = re.compile(r"(?:SSLV3|TLSV1|TLSV13)_ALERT_(\w+)")
_OTHER_HOST: Final = frozenset({62, 63, 64})  # X509_V_ERR_HOSTNAME_MISMATCH, its sisters for mail and IP address
_NO_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST"})
_CERTIFICATE_WANTED: Final = frozenset({"CERTIFICATE_REQUIRED"})
_REFUSED_HANDSHAKE: Final = frozenset({"HANDSHAKE_FAILURE"})


class HandshakeLate(Exception):
    """The handshake did not end in time."""


class HandshakeCut(Exception):
    """The peer closed the connection during the handshake."""


def describe(error: Exception) -> str:
    """Return why a handshake or a session ended: which certificate, which side, or that the peer speaks no TLS."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate(error)
    if isinstance(error, HandshakeCut):
        return f"{error}; the peer may speak no TLS"
    if not isinstance(error, ssl.SSLError):
        return str(error)
    reason = error.reason or ""
    alert = _ALERT.fullmatch(reason)
    if alert is not None:
        return _told(alert[1])
    if reason in _NO_TLS:
        return "the peer does not speak TLS"
    if reason == "PEER_DID_NOT_RETURN_A_CERTIFICATE":
        return "the peer has no client certificate, which is required here"
    return f"TLS failed: {_words(reason) or error}"


def _certificate(error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in _OTHER_HOST:
        return f"the peer's certificate is for another host: {error.verify_message}"
    return f"the peer's certificate is not trusted: {error.verify_message}"


def _told(alert: str) -> str:
    if alert in _CERTIFICATE_WANTED:
        return "the peer requires a client certificate"
    if alert in _REFUSED_HANDSHAKE:
        return "the peer refused the TLS handshake; it may speak no TLS, or require a client certificate"
    return f"the peer refused the TLS session: {_words(alert)}"


def _words(reason: str) -> str:
    return reason.replace("_", " ").lower()
