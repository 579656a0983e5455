"""Gateways that start a redrive of one group at once, on a database like that of installations."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# A separate process: the database of the other tests is in memory and locks differently.
PROGRAM = """
import threading
from contextlib import suppress
import django
django.setup()
from django.core.management import call_command
from console.audit.record import Actor
from console.jobs import services
from console.jobs.models import Job
from console.redrives import ledger

REQUEST = {"type": "redrive", "cluster": "local", "group": "billing"}

def begin(both):
    try:
        with ledger.one_start("local", "billing"):
            ledger.check_group_free("local", "billing")
            # Two that have both checked before either has begun would meet here.
            with suppress(threading.BrokenBarrierError):
                both.wait(timeout=0.3)
            services.create(Actor.system("test"), REQUEST)
    except ledger.GroupBusy:
        pass

call_command("migrate", verbosity=0)
both = threading.Barrier(2)
threads = [threading.Thread(target=begin, args=(both,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(Job.objects.count())
"""


def test_of_redrives_of_a_group_that_start_at_once_one_is_queued(tmp_path: Path) -> None:
    environment = {
        **os.environ, "DJANGO_SETTINGS_MODULE": "gateway.settings", "GANTRY_DATA_DIR": str(tmp_path),
        "GANTRY_REDIS_URL": "redis://127.0.0.1:1/7",
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["1"], done.stderr
