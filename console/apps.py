"""The one Django app of the console; its rooms are plain packages."""

from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """App label ``console``: all records of the product."""

    name = "console"
    label = "console"
    verbose_name = "Gantry console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell the connections of this process where clusters are looked up."""
        from console.clusters import connections, services

        connections.look_up_by(services.find_address)
