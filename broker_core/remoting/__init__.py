"""Requests and responses over TCP: a server, a client, and the connection that both use."""

from broker_core.remoting.client import RemotingClient
from broker_core.remoting.client_tls import ClientTls, ClientTlsFiles, TlsOfClient
from broker_core.remoting.connection import Connection
from broker_core.remoting.dispatch import Dispatch, Handler
from broker_core.remoting.errors import (
    AddressInUse,
    AddressRefused,
    ConnectionClosed,
    ConnectRefused,
    Overloaded,
    RemotingError,
    RemotingTimeout,
)
from broker_core.remoting.limits import ConnectionLimits
from broker_core.remoting.server import Server
from broker_core.remoting.tls import ClientAuth, ServerFiles, ServerTls, TlsMode, TlsRefused
from broker_core.remoting.tls_settings import TlsSettings

__all__ = [
    "AddressInUse",
    "AddressRefused",
    "ClientAuth",
    "ClientTls",
    "ClientTlsFiles",
    "ConnectRefused",
    "Connection",
    "ConnectionClosed",
    "ConnectionLimits",
    "Dispatch",
    "Handler",
    "Overloaded",
    "RemotingClient",
    "RemotingError",
    "RemotingTimeout",
    "Server",
    "ServerFiles",
    "ServerTls",
    "TlsMode",
    "TlsOfClient",
    "TlsRefused",
    "TlsSettings",
]
