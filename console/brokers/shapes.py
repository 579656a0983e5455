"""The shapes of a broker's settings and of their change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from console.brokers.catalogue import Effect, Product, Risk, Unit

Fixed = Literal["fixed", "not_known_safe"]
ChangeResult = Literal["changed", "same", "ignored"]


class BrokerSetting(Struct, frozen=True, kw_only=True):
    """One setting of a broker, as it reports it."""

    name: str
    value: Annotated[str | None, Meta(description="Null if it is not shown, because it may be a secret.")]
    default: Annotated[str | None, Meta(description="Null if Gantry does not know it.")]
    unit: Unit | None
    accepts: Annotated[str | None, Meta(description='Completes the sentence "it takes …".')]
    effect: Annotated[Effect | None, Meta(description="When a change takes effect; null if it cannot be changed.")]
    risk: Annotated[Risk | None, Meta(description="What a change may do to messages or clients.")]
    fixed: Annotated[
        Fixed | None,
        Meta(description="Why it cannot be changed: by its product, or because no safe change is known."),
    ]


class BrokerSettings(Struct, frozen=True, kw_only=True):
    """The settings of one broker."""

    broker: str
    broker_id: int
    address: str
    product: Product
    settings: Sequence[BrokerSetting]
    etag: Annotated[str, Meta(description="For If-Match.")]


class SettingChange(Struct, frozen=True, kw_only=True):
    """One setting before and after a change."""

    name: str
    before: str
    wanted: str
    after: Annotated[str | None, Meta(description="What the broker reports afterwards; null in a preview.")]
    effect: Effect
    risk: Risk | None
    result: Annotated[
        ChangeResult,
        Meta(description="In a preview what is to be expected; `ignored`: the broker answered, and kept its value."),
    ]


class SettingsPreview(Struct, frozen=True, kw_only=True):
    """What a change would do; nothing was changed."""

    broker: str
    changes: Sequence[SettingChange]
    etag: Annotated[str, Meta(description="Of the settings that the preview is based on.")]


class SettingsChanged(BrokerSettings, frozen=True, kw_only=True):
    """The settings after a change, with the result of each."""

    changes: Sequence[SettingChange]
    undo: Annotated[dict[str, str], Meta(description="`settings` of the request that restores what was before.")]
