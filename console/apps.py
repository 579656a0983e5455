"""The one Django app of the console; its parts are plain packages."""

from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """App label ``console``: all models of the product."""

    name = "console"
    label = "console"
    verbose_name = "Gantry console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Set how the connections of this process look up clusters and their brokers."""
        from console.clusters import connections, memory, services

        connections.look_up_by(services.find_address, memory.store_ids)
