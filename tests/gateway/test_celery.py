"""Tasks that views send reach our workers from every thread."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import threading
import gateway.asgi
from console.jobs import queue
found = []
thread = threading.Thread(target=lambda: found.append((queue.current_app.main, queue.current_app.conf.broker_url)))
thread.start()
thread.join()
print(*found[0])
"""


def test_a_view_in_another_thread_hands_its_task_to_our_application(tmp_path: Path) -> None:
    # A separate process: here another test may already have made the application the current one
    environment = {**os.environ, "GANTRY_DATA_DIR": str(tmp_path), "GANTRY_REDIS_URL": "redis://127.0.0.1:1/7"}
    asked = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert asked.stdout.split() == ["gantry", "redis://127.0.0.1:1/7"]


def test_the_sampler_hands_its_tasks_to_our_application(tmp_path: Path) -> None:
    environment = {**os.environ, "GANTRY_DATA_DIR": str(tmp_path), "GANTRY_REDIS_URL": "redis://127.0.0.1:1/7"}
    program = "from celery import current_app; print(current_app.main, current_app.conf.broker_url)"
    asked = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", program],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert asked.stdout.split() == ["gantry", "redis://127.0.0.1:1/7"]
