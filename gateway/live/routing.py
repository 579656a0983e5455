"""Paths of the live sockets."""

from __future__ import annotations

from typing import Final

from channels.routing import URLRouter
from django.urls import path

from gateway.live.events import EventsConsumer
from gateway.live.lag import LagConsumer

SOCKETS: Final = frozenset({"/ws/v1/events", "/ws/v1/lag"})

router = URLRouter([path("ws/v1/events", EventsConsumer.as_asgi()), path("ws/v1/lag", LagConsumer.as_asgi())])
