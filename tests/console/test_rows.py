"""Requirements of `console.rows`: requests for one name at once, on a database like that of installations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A separate process: the database of the other tests is in memory and locks differently.
PROGRAM = """
import json, threading
import django
django.setup()
from django.core.management import call_command
from console.accounts import services as accounts
from console.accounts.models import User
from console.audit.models import AuditRecord
from console.audit.record import Actor
from console.clusters import services as clusters
from console.jobs import schedules

call_command("migrate", verbosity=0)
by, password = Actor.system("test"), "correct horse battery"
owner = User.objects.create(username="owner", role="admin")
schedule = {"cron": "0 2 * * *", "zone": "UTC", "enabled": True, "overlap": "skip", "job": {"type": "replay"}}

def rename(number):
    made = schedules.add_schedule(by, {"name": f"s{number}", **schedule})
    return lambda: schedules.change_schedule(by, made, {"name": "weekly"})

acts = {
    "users": lambda n: lambda: accounts.add_user(by, username="bB"[n % 2] + "ob", password=password, role="viewer"),
    "tokens": lambda n: lambda: accounts.add_token(by, owner, name="shop", scopes=["read"]),
    "clusters": lambda n: lambda: clusters.add(by, name="mars", name_servers=["127.0.0.1:1"]),
    "schedules": lambda n: lambda: schedules.add_schedule(by, {"name": "nightly", **schedule}),
    "renames": rename,
}

def run(act, start, ended):
    start.wait()
    try:
        act()
        ended.append("done")
    except Exception as error:
        ended.append(f"{type(error).__name__} {getattr(error, 'status_code', None)}")

def at_once(prepare):
    ready, start, ended = [prepare(n) for n in range(8)], threading.Barrier(8), []
    recorded = AuditRecord.objects.count()
    threads = [threading.Thread(target=run, args=(act, start, ended)) for act in ready]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(ended), AuditRecord.objects.count() - recorded

print(json.dumps({what: at_once(prepare) for what, prepare in acts.items()}))
"""


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    """How the requests for each kind of name ended, and how many changes were recorded: one process for all kinds."""
    data = str(tmp_path_factory.mktemp("data"))
    environment = {
        **os.environ, "DJANGO_SETTINGS_MODULE": "gateway.settings", "GANTRY_DATA_DIR": data,
        "GANTRY_REDIS_URL": "redis://127.0.0.1:1/7",
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[object]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("what", "refusal"),
    [
        ("users", "AlreadyExists 409"), ("tokens", "AlreadyExists 409"), ("clusters", "AlreadyExists 409"),
        ("schedules", "ValidationError 400"), ("renames", "ValidationError 400"),
    ],
)  # fmt: skip
def test_one_of_many_who_want_a_name_at_once_gets_it(ends: dict[str, list[object]], what: str, refusal: str) -> None:
    # The others are refused as a second one is later, and only the change that was made is recorded
    assert ends[what] == [[*[refusal] * 7, "done"], 1]
