"""Rows of the database, as requests name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet
from rest_framework.exceptions import APIException

from console.errors import NotKnown

M = TypeVar("M", bound=Model)


def row_of(rows: QuerySet[M], key: object = None) -> M:
    """Return the row with this primary key, or the only one of `rows`; raise NotKnown."""
    found = (rows if key is None else rows.filter(pk=key)).first()
    if found is None:
        name = "" if key is None else f" {str(key)[:60]!r}"
        raise NotKnown(f"There is no {rows.model._meta.verbose_name}{name}.")
    return found


@contextmanager
def unless_taken(rows: QuerySet[Any], refusal: APIException) -> Iterator[None]:
    """Run the block in a transaction; raise `refusal` if one of `rows` exists, or another transaction adds it first."""
    try:
        with transaction.atomic():
            if rows.exists():
                raise refusal
            yield
    except IntegrityError:
        # Not every violation of a rule is a name that is taken.
        if rows.exists():
            raise refusal from None
        raise
