"""Channels and their changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import httpx
from django.db import transaction

from console.alerts.models import Channel, ChannelKind
from console.audit.record import Actor, record
from console.errors import AlreadyExists, Conflict
from console.etags import etag
from console.rows import unless_taken

MAX_CHANNELS: Final = 50


def target_of(channel: Channel) -> str:
    """Return where a channel leads, without what may be secret: the path of a webhook often is."""
    if channel.kind == ChannelKind.EMAIL:
        return ", ".join(channel.recipients)
    url = httpx.URL(channel.url)
    return f"{url.scheme}://{url.netloc.decode('ascii')}/" + ("…" if url.raw_path != b"/" else "")


def channel_tag(channel: Channel) -> str:
    """Return the tag of the fields that a PATCH can change."""
    return etag([channel.pk, channel.name, channel.enabled, channel.url, channel.secret, channel.recipients])


def add(by: Actor, fields: Mapping[str, Any]) -> Channel:
    """Create a channel; raise AlreadyExists if the name is taken, Conflict at the limit."""
    name = fields["name"]
    with unless_taken(Channel.objects.filter(name=name), AlreadyExists(f"There is a channel {name!r} already.")):
        if Channel.objects.count() >= MAX_CHANNELS:
            raise Conflict(f"There are {MAX_CHANNELS} alert channels, and more are not allowed; delete one first.")
        channel = Channel.objects.create(**fields)
        record(by, "alert_channel.create", f"alert-channels/{name}", after=_shown(channel))
    return channel


def change(by: Actor, channel: Channel, fields: Mapping[str, Any]) -> Channel:
    """Change these fields of a channel; raise AlreadyExists if the name is another one's."""
    name, before = fields.get("name", channel.name), _shown(channel)
    taken = Channel.objects.filter(name=name).exclude(pk=channel.pk)
    with unless_taken(taken, AlreadyExists(f"There is another channel {name!r}.")):
        for field, value in fields.items():
            setattr(channel, field, value)
        channel.save()
        record(by, "alert_channel.update", f"alert-channels/{name}", before=before, after=_shown(channel))
    return channel


def remove(by: Actor, channel: Channel) -> None:
    """Delete a channel; rules lose it, and its deliveries stay in the log."""
    with transaction.atomic():
        record(by, "alert_channel.delete", f"alert-channels/{channel.name}", before=_shown(channel))
        channel.delete()


def _shown(channel: Channel) -> dict[str, Any]:
    return {
        "name": channel.name,
        "kind": channel.kind,
        "enabled": channel.enabled,
        "target": target_of(channel),
        "has_secret": bool(channel.secret),
    }
