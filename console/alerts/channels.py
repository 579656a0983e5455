"""Channels and their changes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import httpx
from django.db import transaction
from django.utils import timezone

from console.alerts.models import Channel, ChannelKind, SignedUrl
from console.audit.record import Actor, record
from console.errors import AlreadyExists, Conflict
from console.etags import etag
from console.rows import unless_taken

MAX_CHANNELS: Final = 50
OVERLAP_MS: Final = 24 * 3_600_000
"""How long a former secret goes on signing, unless told otherwise."""


def target_of(channel: Channel) -> str:
    """Return where a channel leads, without what may be secret: the path of a webhook often is."""
    if channel.kind == ChannelKind.EMAIL:
        return ", ".join(channel.recipients)
    return origin_of(channel.url)


def origin_of(text: str) -> str:
    """Return a URL with an ellipsis for what follows its host."""
    url = httpx.URL(text)
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
    """Change these fields of a channel; raise AlreadyExists if the name is another one's.

    A secret that another one replaces goes on signing for `secret_overlap_ms`.
    """
    name, before = fields.get("name", channel.name), _shown(channel)
    taken = Channel.objects.filter(name=name).exclude(pk=channel.pk)
    with unless_taken(taken, AlreadyExists(f"There is another channel {name!r}.")):
        keep_former(channel, fields)
        for field in fields.keys() - {"secret_overlap_ms"}:
            setattr(channel, field, fields[field])
        channel.save()
        record(by, "alert_channel.update", f"alert-channels/{name}", before=before, after=_shown(channel))
    return channel


def remove(by: Actor, channel: Channel) -> None:
    """Delete a channel; rules lose it, and its deliveries stay in the log."""
    with transaction.atomic():
        record(by, "alert_channel.delete", f"alert-channels/{channel.name}", before=_shown(channel))
        channel.delete()


def secrets_of(hook: SignedUrl, now: datetime) -> tuple[str, ...]:
    """Return the secrets that sign at a time, the newest first; none if there is no secret."""
    until = hook.former_secret_until
    former = (hook.former_secret,) if until is not None and now < until else ()
    return tuple(secret for secret in (hook.secret, *former) if secret)


def keep_former(hook: SignedUrl, fields: Mapping[str, Any]) -> None:
    """Remember the present secret if these fields replace it, for `secret_overlap_ms`."""
    secret, overlap_ms = fields.get("secret", hook.secret), fields.get("secret_overlap_ms", OVERLAP_MS)
    if secret == hook.secret and overlap_ms:
        return
    overlap = timedelta(milliseconds=overlap_ms)
    # Whoever takes signatures away wants none, and whoever had none has nothing to overlap.
    is_kept = bool(secret and hook.secret and overlap)
    hook.former_secret = hook.secret if is_kept else ""
    hook.former_secret_until = timezone.now() + overlap if is_kept else None


def _shown(channel: Channel) -> dict[str, Any]:
    until = channel.former_secret_until
    return {
        "name": channel.name,
        "kind": channel.kind,
        "enabled": channel.enabled,
        "target": target_of(channel),
        "has_secret": bool(channel.secret),
        "former_secret_until": None if until is None else until.isoformat(),
    }
