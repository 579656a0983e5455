"""The request of a scan: its fields, and the scan that they mean."""

from __future__ import annotations

import base64
import binascii
import json
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import orjson
from django.utils.crypto import salted_hmac
from rest_framework import serializers

from broker_core.clock import now_ms
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.sql92 import Sql92
from console.fields import MomentField
from console.paging import CursorGone
from gateway.control.scan import Positions, Wanted
from gateway.message_filter import WITHOUT_VALUE, BadPath, Condition, MessageFilter, parse_path, why_never
from gateway.sql_filter import MOST_OF_READERS, BadSql, parse_sql

MOST_MATCHES: Final = 10_000
MOST_READ: Final = 10_000_000
_MOST_CONDITIONS: Final = 16
_TEXT_OPERATORS: Final = ("eq", "ne", "contains", "prefix", "exists", "absent")
_FIELD_OPERATORS: Final = (*_TEXT_OPERATORS, "lt", "le", "gt", "ge")
_SCALARS: Final = (str, int, Decimal, bool)


class _ConditionSerializer(serializers.Serializer[Any]):
    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse a missing value, and one that the operator does not take."""
        needs_value = values["operator"] not in WITHOUT_VALUE
        if needs_value and "value" not in values:
            raise serializers.ValidationError({"value": f"the operator {values['operator']} needs it"})
        if not needs_value and "value" in values:
            raise serializers.ValidationError({"value": f"the operator {values['operator']} takes none"})
        return values


class PropertyConditionSerializer(_ConditionSerializer):
    """What a property must be."""

    name = serializers.CharField(max_length=255)
    operator = serializers.ChoiceField(_TEXT_OPERATORS)
    value = serializers.CharField(max_length=30_000, required=False, allow_blank=True, trim_whitespace=False)


class _ScalarField(serializers.JSONField):
    """A value of JSON without lists and objects; numbers are exact."""

    def to_internal_value(self, data: Any) -> Any:
        """Refuse lists and objects."""
        if not isinstance(data, _SCALARS):
            raise serializers.ValidationError("must be text, a number, true, false or null")
        return data


class FieldConditionSerializer(_ConditionSerializer):
    """What a field of a JSON body must be."""

    path = serializers.CharField(max_length=1_000, help_text="Such as $.order.items[*].price.")
    operator = serializers.ChoiceField(_FIELD_OPERATORS)
    value = _ScalarField(
        required=False, allow_null=True, help_text="Text, a number of any size, true, false or null; compared exactly."
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse a value with which the condition could never hold."""
        fault = why_never(values["operator"], super().validate(values).get("value"))
        if fault is not None:
            raise serializers.ValidationError({"value": fault})
        return values

    def validate_path(self, text: str) -> str:
        """Refuse what is not a path."""
        try:
            parse_path(text)
        except BadPath as error:
            raise serializers.ValidationError(str(error)) from None
        return text


class ScanSerializer(serializers.Serializer[Any]):
    """A range of a topic, and conditions that must all hold."""

    begin = MomentField(required=False, help_text="Stored then or later; by default everything.")
    end = MomentField(required=False, help_text="Stored before this moment; by default until now.")
    queue = serializers.IntegerField(min_value=0, max_value=65_535, required=False)
    tags = serializers.ListField(child=serializers.CharField(max_length=255), max_length=100, required=False)
    key = serializers.CharField(max_length=1_000, required=False)
    text = serializers.CharField(
        max_length=10_000, required=False, trim_whitespace=False, help_text="A part of the body, letter for letter."
    )
    sql = serializers.CharField(
        max_length=MOST_OF_READERS, required=False, trim_whitespace=False, help_text="SQL92 over the properties."
    )
    properties = PropertyConditionSerializer(many=True, required=False)
    fields_ = FieldConditionSerializer(many=True, required=False)
    limit = serializers.IntegerField(
        min_value=1, max_value=MOST_MATCHES, default=100, help_text="End after so many matches."
    )
    max_read = serializers.IntegerField(
        min_value=1, max_value=MOST_READ, default=100_000, help_text="End after so many messages were looked at."
    )
    bodies = serializers.BooleanField(default=False, help_text="Return whole messages.")
    cursor = serializers.CharField(max_length=1_000_000, required=False, help_text="Go on where a scan ended.")

    def get_fields(self) -> dict[str, Any]:
        """Return the fields by the names that the API uses; `fields` is taken by the class."""
        return {
            {"begin": "from", "end": "to", "fields_": "fields"}.get(name, name): each
            for name, each in super().get_fields().items()
        }

    def validate_sql(self, text: str) -> str:
        """Refuse what does not compile."""
        return sql_of(text).text

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse more conditions than one message should cost, and a time that ends before it begins."""
        if "from" in values and "to" in values and values["from"] >= values["to"]:
            raise serializers.ValidationError({"to": "must be after from"})
        for name in ("properties", "fields"):
            if len(values.get(name, ())) > _MOST_CONDITIONS:
                raise serializers.ValidationError({name: f"at most {_MOST_CONDITIONS} conditions"})
        return values


def wanted_of(topic: str, values: dict[str, Any]) -> Wanted:
    """Return the scan that a valid request asks for; raise CursorGone for a cursor of another one."""
    text, sql = values.get("text"), values.get("sql")
    cursor = values.get("cursor")
    return Wanted(
        topic=topic,
        begin=_ms(values.get("from"), 0),
        end=_ms(values["to"], 0) - 1 if "to" in values else now_ms(),
        filter=MessageFilter(
            tags=frozenset(values.get("tags", ())),
            key=values.get("key"),
            text=None if text is None else text.encode(),
            properties=[(each["name"], _condition(each)) for each in values.get("properties", ())],
            fields=[(parse_path(each["path"]), _condition(each)) for each in values.get("fields", ())],
            sql=None if sql is None else sql_of(sql),
        ),
        limit=values["limit"],
        budget=values["max_read"],
        queue_id=values.get("queue"),
        positions=None if cursor is None else _positions(topic, values, cursor),
    )


def sql_of(text: str) -> Sql92:
    """Return an SQL92 filter; raise ValidationError."""
    try:
        return parse_sql(text)
    except BadSql as error:
        raise serializers.ValidationError(str(error)) from None


def cursor_of(topic: str, values: dict[str, Any], positions: Positions) -> str | None:
    """Return the cursor with which the same request goes on at `positions`; None at the end."""
    if not positions:
        return None
    places = [[queue.broker_name, queue.queue_id, at] for queue, at in positions.items()]
    return base64.urlsafe_b64encode(orjson.dumps([_seal(topic, values, places), places])).rstrip(b"=").decode()


def _positions(topic: str, values: dict[str, Any], cursor: str) -> Positions:
    try:
        seal, places = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError):
        raise CursorGone from None
    if seal != _seal(topic, values, places):
        raise CursorGone
    return {MessageQueue(topic, broker, queue): at for broker, queue, at in places}


def _seal(topic: str, values: dict[str, Any], places: Any) -> str:
    """Bind the places to what is looked for; how much is returned at a time may change."""
    asked = {name: value for name, value in values.items() if name not in ("cursor", "limit", "max_read", "bodies")}
    # Whole numbers beyond 64 bits, decimals and moments are told apart by their names in Python.
    text = json.dumps([topic, asked, places], sort_keys=True, default=repr)
    return salted_hmac("gateway.scan", text).hexdigest()[:20]


def _condition(given: dict[str, Any]) -> Condition:
    return Condition(given["operator"], given.get("value"))


def _ms(moment: datetime | None, otherwise: int) -> int:
    return otherwise if moment is None else max(0, int(moment.timestamp() * 1000))
