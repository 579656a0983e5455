#!/usr/bin/env python
"""Django's command line: ``python manage.py migrate``, ``bootstrap``, ``sampler``, ``create_token`` and the rest."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the management command in `sys.argv`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings")
    from django.core.management import execute_from_command_line

    import gateway.celery  # noqa: F401 - the sampler sends tasks through this application

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
