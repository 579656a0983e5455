"""Workers that claim concurrently, on databases like those of installations: a file with one writer, a server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# A separate process: the database of the other tests is in memory and locks differently.
PROGRAM = """
import threading
import django
django.setup()
from django.core.management import call_command
from console.jobs import services
from console.jobs.models import Job, JobState

def claim(job_id, start, claimed):
    start.wait()
    job = services.claim(job_id, worker="w", host="h")
    if job is not None:
        claimed.append((job.id, job.attempt))

call_command("migrate", verbosity=0)
for _ in range(5):
    jobs = [Job.objects.create(type="replay", request={}) for _ in range(2)]
    for wanted in ([jobs[0], jobs[1]], [jobs[0], jobs[0]]):
        Job.objects.update(state=JobState.CANCELLED)
        Job.objects.filter(pk__in=[job.pk for job in wanted]).update(state=JobState.QUEUED, attempt=0)
        claimed, start = [], threading.Barrier(len(wanted))
        threads = [threading.Thread(target=claim, args=(job.pk, start, claimed)) for job in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print([attempt for _, attempt in claimed], Job.objects.filter(state=JobState.RUNNING).count())
"""


@pytest.mark.sample
def test_two_workers_that_claim_at_once_get_one_place_and_one_run(tmp_path: Path, database_url: str | None) -> None:
    environment = {
        **os.environ, "DJANGO_SETTINGS_MODULE": "gateway.settings", "GANTRY_DATA_DIR": str(tmp_path),
        "GANTRY_REDIS_URL": "redis://127.0.0.1:1/7", "GANTRY_JOBS_AT_ONCE": "1",
        **({} if database_url is None else {"GANTRY_DATABASE_URL": database_url}),
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[1] 1"] * 10, done.stderr
