"""The ASGI application: ``granian --interface asgi --loop uvloop gateway.asgi:application``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from django.core.asgi import get_asgi_application

if TYPE_CHECKING:
    from gateway.composition import App

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings")

# Fills Django's registry of models, which what is imported next looks into.
django_application = get_asgi_application()

import gateway.celery  # noqa: E402, F401 - views hand tasks to this application
from gateway.composition import Gateway  # noqa: E402

application = Gateway(cast("App", django_application))
