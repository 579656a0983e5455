"""The ASGI application; `gateway.serve` runs it, and so does any ASGI server, then without the ingress."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from django.core.asgi import get_asgi_application

if TYPE_CHECKING:
    from gateway.sockets import App

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings")

# Loads Django's models, which the next imports need.
django_application = get_asgi_application()

from django.conf import settings  # noqa: E402

import gateway.celery  # noqa: E402, F401 - views send tasks through this application
from gateway.base_path import BelowPath  # noqa: E402
from gateway.composition import Gateway  # noqa: E402

application: App = Gateway(cast("App", django_application))
if settings.GANTRY_BASE_PATH:
    application = BelowPath(application, settings.GANTRY_BASE_PATH)
