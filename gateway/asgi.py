"""The ASGI application; `gateway.serve` runs it, and so does any ASGI server, then without the ingress."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

import django

if TYPE_CHECKING:
    from gateway.sockets import App

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings")

# Loads Django's models, which the next imports need.
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402

import gateway.celery  # noqa: E402, F401 - views send tasks through this application
from gateway.base_path import BelowPath  # noqa: E402
from gateway.composition import Gateway  # noqa: E402
from gateway.control.django_application import DjangoApplication  # noqa: E402

application: App = Gateway(cast("App", DjangoApplication()))
if settings.GANTRY_BASE_PATH:
    application = BelowPath(application, settings.GANTRY_BASE_PATH)
