"""Requirements of `gateway.settings` and `gateway.celery`, read by separate processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import redis

from tests.support.wait import wait_until

ROOT = Path(__file__).resolve().parents[2]


def environment(data: Path, **variables: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("GANTRY_", "DJANGO_"))}
    return {**own, "GANTRY_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "gateway.settings", **variables}


def settings_with(data: Path, **variables: str) -> dict[str, Any]:
    """Return the settings of a process with these variables."""
    code = (
        "import json; from gateway import settings as s;"
        "print(json.dumps({n: getattr(s, n) for n in dir(s) if n.isupper()}, default=str))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(data, **variables), cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_no_log_level_shows_the_urls_that_are_posted_to(tmp_path: Path) -> None:
    code = (
        "import django, httpx, logging; django.setup();"
        "answer = lambda request: httpx.Response(200);"
        "httpx.Client(transport=httpx.MockTransport(answer)).post('https://hooks.example.org/the-secret-path');"
        "logging.getLogger('httpcore.http11').debug('the-secret-path'); logging.getLogger('gateway').debug('shown')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(tmp_path, GANTRY_LOG_LEVEL="DEBUG"),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "shown" in done.stderr
    assert "the-secret-path" not in done.stderr


def test_a_laptop_needs_no_variable(tmp_path: Path) -> None:
    found = settings_with(tmp_path)
    assert not found["DEBUG"]
    assert found["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert found["GANTRY_NAME_SERVERS"] == ["127.0.0.1:9876"]
    assert found["DATABASES"]["default"]["NAME"] == str(tmp_path / "gantry.sqlite3")
    assert (found["SESSION_COOKIE_SECURE"], found["SESSION_COOKIE_HTTPONLY"]) == (False, True)
    assert "Argon2" in found["PASSWORD_HASHERS"][0]


def test_an_address_with_https_makes_cookies_secure(tmp_path: Path) -> None:
    found = settings_with(tmp_path, GANTRY_PUBLIC_URL="https://gantry.example.org")
    assert found["SESSION_COOKIE_SECURE"]
    assert found["CSRF_COOKIE_SECURE"]
    assert found["SECURE_HSTS_SECONDS"] > 0
    assert "gantry.example.org" in found["ALLOWED_HOSTS"]
    assert found["CSRF_TRUSTED_ORIGINS"] == ["https://gantry.example.org"]


def test_an_address_with_a_path_puts_everything_below_it(tmp_path: Path) -> None:
    found = settings_with(tmp_path, GANTRY_PUBLIC_URL="https://example.org/tools/gantry/")
    assert found["GANTRY_BASE_PATH"] == "/tools/gantry"
    assert found["SESSION_COOKIE_PATH"] == found["CSRF_COOKIE_PATH"] == "/tools/gantry/"
    assert found["CSRF_TRUSTED_ORIGINS"] == ["https://example.org"]
    assert found["SPECTACULAR_SETTINGS"]["SERVERS"] == [{"url": "/tools/gantry"}]


def test_a_wrong_variable_is_named_at_the_start(tmp_path: Path) -> None:
    code = "import gateway.settings"
    wrong = environment(tmp_path, GANTRY_FLUSH="sometimes")
    done = subprocess.run([sys.executable, "-c", code], env=wrong, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "GANTRY_FLUSH='sometimes': expected one of async, sync" in done.stderr


def test_a_job_is_taken_once_and_one_at_a_time(tmp_path: Path) -> None:
    found = settings_with(tmp_path)
    assert (found["CELERY_TASK_ACKS_LATE"], found["CELERY_WORKER_PREFETCH_MULTIPLIER"]) == (False, 1)
    assert (found["CELERY_TASK_IGNORE_RESULT"], found["CELERY_TASK_DEFAULT_QUEUE"]) == (True, "default")
    for entry in found["CELERY_BEAT_SCHEDULE"].values():
        assert entry["options"]["expires"] < entry["schedule"], (
            "a worker that comes back late finds one hint, not a heap"
        )


def test_the_tasks_of_the_schedule_are_there(tmp_path: Path) -> None:
    code = (
        "import django; django.setup(); from gateway.celery import app; from django.conf import settings;"
        "app.loader.import_default_modules();"
        "wanted = {e['task'] for e in settings.CELERY_BEAT_SCHEDULE.values()} | set(settings.CELERY_TASK_ROUTES);"
        "print(sorted(wanted - set(app.tasks)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(tmp_path), cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_migrations_are_as_the_models_are(tmp_path: Path) -> None:
    command = [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]
    done = subprocess.run(command, env=environment(tmp_path), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_worker_and_scheduler_show_that_they_live(tmp_path: Path, redis_url: str) -> None:
    # Given a worker and a scheduler on an empty Redis
    beats = ("gantry:worker:beat", "gantry:beat:beat")
    with redis.Redis.from_url(redis_url) as store:
        store.delete(*beats)
        variables = environment(tmp_path, GANTRY_REDIS_URL=redis_url)
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "-v0"], env=variables, cwd=ROOT, check=True, capture_output=True
        )
        celery = [sys.executable, "-m", "celery", "-A", "gateway.celery"]
        with (tmp_path / "log").open("wb") as log:
            processes = [
                subprocess.Popen([*celery, *arguments], env=variables, cwd=ROOT, stdout=log, stderr=log)
                for arguments in (["worker", "-Q", "spark,default", "-c", "1"], ["beat"])
            ]
        # Then both write a current heartbeat
        try:
            wait_until(lambda: all(_is_of_now(store.get(key)) for key in beats))
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(60)


def _is_of_now(beat: Any) -> bool:
    return beat is not None and abs(time.time() * 1000 - int(beat)) < 30_000
