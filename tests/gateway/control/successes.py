"""For each operation that changes something: a request that succeeds, and the records of the audit that it leaves.

A new operation is missing here until somebody says what it leaves; `test_records` compares with the document.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import PushConfig
from broker_core.client.consumer.push import PushConsumer
from broker_core.protocol.message import StoredMessage
from tests.gateway.control.conftest import Control
from tests.gateway.control.test_dead_letters import bury
from tests.gateway.control.test_scheduled import sent
from tests.gateway.control.test_transactions import prepared
from tests.gateway.installation import PASSWORD, ROOT, Installation
from tests.support import failover
from tests.support.cluster import started_broker
from tests.support.failover import replicas_that_beat

CHANGES_NOTHING: Final = frozenset(
    [
        "checkAccess",
        "coverPatterns",
        "previewAlertRule",
        "previewBrokerSettings",
        "previewOffsets",
        "previewOffsetsOfGroups",
        "lookUpKeys",
        "scanMessages",
        "analyzeTopic",
        "probeCluster",
        "diffDefinitions",
        "previewSchedule",
    ]
)
"""They are POST because of their bodies."""
NOT_RECORDED: Final = frozenset(
    [
        "produceMessages",
        "receiveMessages",
        "ackMessages",
        "nackMessages",
        "extendLeases",
        "commitTransaction",
        "rollbackTransaction",
        "createWsTicket",
    ]
)
"""Messages are no changes of the installation, and a ticket is gone after one handshake."""

Records = list[tuple[str, str]]
"""Action and resource."""


@dataclass(frozen=True)
class Wish:
    """A request that succeeds: the arguments of its path, body and query, and what it leaves."""

    records: Records
    path: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    client: httpx.Client | None = None
    """Whoever asks; by default the admin's token."""
    actor: str = "admin"


_BEHIND: Final = """
import sys, django
django.setup()
from django.utils import timezone
from console.alerts.models import Alert, Channel, Delivery, Rule
from console.clusters.models import Cluster, KnownBroker
rule = Rule.objects.create(name=sys.argv[1], metric="group_lag", limit=1)
alert = Alert.objects.create(rule=rule, cluster="local", subject="orders", state="firing", since_at=1)
channel = Channel.objects.create(name=sys.argv[1], kind="webhook", url="http://127.0.0.1:9/")
delivery = Delivery.objects.create(
    channel=channel, channel_name=channel.name, event="test", title="t", payload={}, state="failed"
)
now = timezone.now()
east = Cluster.objects.create(name=sys.argv[1], name_servers=["127.0.0.1:9"])
KnownBroker.objects.create(cluster=east, name="broker-gone", first_seen_at=now, last_seen_at=now)
print(east.name, alert.pk, delivery.pk)
"""


# A reconciliation that a program has done.
_RECONCILED = """
import sys, django
django.setup()
from console.jobs.models import Job
artefacts = [{"name": "missing.jsonl", "kind": "jsonl", "bytes": 1}]
Job.objects.filter(pk=sys.argv[1]).update(state="succeeded", artefacts=artefacts)
"""


class Successes:
    """The wishes; each makes what it needs."""

    def __init__(self, control: Control, installation: Installation, redis_url: str) -> None:
        self.control = control
        self.installation = installation
        self.admin = control.as_("admin")
        self._redis_url = redis_url
        self._stack = ExitStack()
        self._kept: dict[str, Any] = {}

    def of(self, operation: str) -> Wish:
        """Return the wish for an operation; what a wish needs is made with other requests."""
        made: Wish = _WISHES[operation](self)
        return made

    def close(self) -> None:
        """Close what was opened, and remove the clusters: of those that do not answer, much is unknown."""
        self._stack.close()
        for cluster in self.admin.get("/api/v1/clusters").json()["items"]:
            if cluster["name"].startswith(("east", "behind")):
                path = f"/api/v1/clusters/{cluster['name']}"
                self.admin.delete(path, headers={"If-Match": "*"}).raise_for_status()

    def made(self, path: str, body: Any, status: int = 201) -> dict[str, Any]:
        """Create something as the admin."""
        answer = self.admin.post(path, json=body)
        assert answer.status_code == status, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def put_back(self, broker: str, settings: dict[str, str]) -> None:
        """Give a broker these settings in the end."""
        path = f"{self.control.path}/brokers/{broker}/config"
        body, headers = {"settings": settings}, {"If-Match": "*"}
        self._stack.callback(lambda: self.admin.patch(path, json=body, headers=headers).raise_for_status())

    def person(self, **fields: Any) -> tuple[str, str, httpx.Client]:
        """Return name and id of a new user, and a browser that is signed in as that user."""
        name = self.control.name("person")
        user = self.made("/api/v1/users", {"username": name, "password": PASSWORD, "role": "viewer", **fields})
        return name, str(user["id"]), self.browser(name)

    def stranger(self) -> httpx.Client:
        """Return a browser in which nobody is signed in."""
        return self._stack.enter_context(self.installation.client(None))

    def browser(self, name: str) -> httpx.Client:
        """Return a browser that is signed in."""
        client = self.stranger()
        signed = client.post("/api/v1/login", json={"username": name, "password": PASSWORD})
        assert signed.status_code == 200, signed.text
        client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
        return client

    def session_of(self, client: httpx.Client, *, current: bool = True) -> str:
        """Return the id of the session of a browser, or of another one of the same user."""
        items = client.get("/api/v1/me/sessions").json()["items"]
        return next(str(each["id"]) for each in items if each["current"] is current)

    def behind(self) -> tuple[str, str, str]:
        """Make what only time makes: a cluster with a broker that is gone, an alert, a failed delivery."""
        if "behind" not in self._kept:
            done = self._run(_BEHIND, self.control.name("behind"))
            self._kept["behind"] = tuple(done.split())
        cluster, alert, delivery = self._kept["behind"]
        return cluster, alert, delivery

    def guarded(self) -> str:
        """Return a cluster with access control, whose account of Gantry is in the console."""
        if "guarded" not in self._kept:
            account = {"access_key": "gantry-itself", "secret_key": "secret-of-gantry"}
            data = Path(self._stack.enter_context(TemporaryDirectory()))
            file = data / "broker" / "config" / "plain_acl.yml"
            file.parent.mkdir(parents=True)
            known = f"accessKey: {account['access_key']}, secretKey: {account['secret_key']}, admin: true"
            file.write_text(f"accounts: [{{{known}}}]\n")
            running = self._stack.enter_context(started_broker(data, settings={"aclEnable": "true"}))
            body = {"name": self.control.name("east"), "name_servers": [running.name_server], **account}
            self._kept["guarded"] = self.made("/api/v1/clusters", body)["name"]
        return str(self._kept["guarded"])

    def led(self) -> str:
        """Return a cluster with a controller, and replicas that only beat."""
        if "led" not in self._kept:
            data = Path(self._stack.enter_context(TemporaryDirectory()))
            address = self._stack.enter_context(replicas_that_beat(data))
            body = {"name": self.control.name("east"), "name_servers": [address]}
            self._kept["led"] = self.made("/api/v1/clusters", body)["name"]
        return str(self._kept["led"])

    def reconciled(self) -> str:
        """Return the id of a reconciliation that found something missing."""
        sides = {side: {"topic": self.control.topic()} for side in ("left", "right")}
        job = str(self.made("/api/v1/jobs", {"type": "reconcile", **sides}, 202)["id"])
        self._run(_RECONCILED, job)
        return job

    def _run(self, code: str, argument: str) -> str:
        """Run code beside the installation, with its settings; return what it printed."""
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "gateway.settings",
            "GANTRY_DATA_DIR": str(self.installation.data), "GANTRY_REDIS_URL": self._redis_url,
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code, argument], env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    def consumer(self, group: str) -> None:
        """Run a native client of a group to the end of all tests."""

        async def handle(message: StoredMessage) -> None:
            """Accept it."""

        session = self._stack.enter_context(BlockingSession(self.control.broker.config))
        consumer = PushConsumer(session.session, group, handle, PushConfig(start_from="last"))
        consumer.subscribe(self.control.topic())
        session.run(consumer.__aenter__())
        self._stack.callback(lambda: session.run(consumer.__aexit__(None, None, None)))


Make = Callable[[Successes], Wish]
_WISHES: Final[dict[str, Make]] = {}


def _for(operation: str) -> Callable[[Make], Make]:
    def keep(make: Make) -> Make:
        _WISHES[operation] = make
        return make

    return keep


OPERATIONS: Final = _WISHES.keys()


# ---- topics ----------------------------------------------------------------------------------------------------------


@_for("createTopic")
def _create_topic(s: Successes) -> Wish:
    name = s.control.name()
    return Wish([("topic.create", f"local/topics/{name}")], json={"name": name})


def _of_topic(action: str, json: Any = None, query: Mapping[str, str] | None = None) -> Make:
    def make(s: Successes) -> Wish:
        topic = s.control.topic()
        s.control.produce(topic, "a")
        return Wish([(action, f"local/topics/{topic}")], path={"topic": topic}, json=json, query=query or {})

    return make


_WISHES["updateTopic"] = _of_topic("topic.update", {"write_queues": 2, "read_queues": 2})
_WISHES["deleteTopic"] = _of_topic("topic.delete")
_WISHES["updateTopicQueues"] = _of_topic("topic.update", {"brokers": [{"broker": "broker-a", "permission": "r"}]})
_WISHES["setTopicNote"] = _of_topic("note.update", {"text": "Ask Till."})
_WISHES["pauseTopic"] = _of_topic("topic.pause", {})
_WISHES["purgeTopic"] = _of_topic("topic.purge", {})


@_for("resumeTopic")
def _resume_topic(s: Successes) -> Wish:
    topic = s.control.topic()
    assert s.control.call("POST", f"/topics/{topic}:pause", json={}).status_code == 200
    return Wish([("topic.resume", f"local/topics/{topic}")], path={"topic": topic})


def _of_topics(action: str, **json: Any) -> Make:
    def make(s: Successes) -> Wish:
        topics = [s.control.topic(), s.control.topic()]
        return Wish([(action, f"local/topics/{each}") for each in topics], json={"topics": topics, **json})

    return make


_WISHES["deleteTopics"] = _of_topics("topic.delete")
_WISHES["updateTopics"] = _of_topics("topic.update", permission="r")


# ---- groups ----------------------------------------------------------------------------------------------------------


@_for("createGroup")
def _create_group(s: Successes) -> Wish:
    name = s.control.name()
    return Wish([("group.create", f"local/groups/{name}")], json={"name": name})


def _of_group(action: str, json: Any = None) -> Make:
    def make(s: Successes) -> Wish:
        group = s.control.group()
        return Wish([(action, f"local/groups/{group}")], path={"group": group}, json=json)

    return make


_WISHES["updateGroup"] = _of_group("group.update", {"retry_max_times": 3})
_WISHES["deleteGroup"] = _of_group("group.delete")
_WISHES["pauseGroup"] = _of_group("group.pause")


@_for("resumeGroup")
def _resume_group(s: Successes) -> Wish:
    group = s.control.group()
    assert s.control.call("POST", f"/groups/{group}:pause").status_code == 200
    return Wish([("group.resume", f"local/groups/{group}")], path={"group": group})


@_for("cloneGroup")
def _clone_group(s: Successes) -> Wish:
    group, name = s.control.group(), s.control.name()
    resource = f"local/groups/{name}"
    return Wish([("group.create", resource), ("group.clone", resource)], path={"group": group}, json={"name": name})


def _of_groups(action: str, before: str = "") -> Make:
    def make(s: Successes) -> Wish:
        groups = [s.control.group(), s.control.group()]
        if before:
            done = s.control.call("POST", f"/groups:{before}", json={"groups": groups}, headers={"If-Match": "*"})
            assert done.status_code == 200, done.text
        return Wish([(action, f"local/groups/{each}") for each in groups], json={"groups": groups})

    return make


_WISHES["deleteGroups"] = _of_groups("group.delete")
_WISHES["pauseGroups"] = _of_groups("group.pause")
_WISHES["resumeGroups"] = _of_groups("group.resume", "pause")


# ---- offsets ---------------------------------------------------------------------------------------------------------


def _planned(s: Successes) -> tuple[str, str, str]:
    """Return a group, the record of a move, and a plan that moves it."""
    topic, group = s.control.topic(), s.control.group()
    s.control.produce(topic, "a", "b")
    s.control.consume(group, topic, 2)
    plan = s.made(f"{s.control.path}/groups/{group}/offsets:preview", {"topic": topic, "mode": "earliest"}, 200)
    return group, f"local/groups/{group}/topics/{topic}", plan["plan_id"]


def _moved(s: Successes) -> tuple[str, str, str]:
    """Return a group, the record of a move, and the snapshot of how it was."""
    group, resource, plan = _planned(s)
    done = s.made(f"{s.control.path}/groups/{group}/offsets:apply", {"plan_id": plan}, 200)
    return group, resource, done["snapshot_id"]


@_for("applyOffsets")
def _apply_offsets(s: Successes) -> Wish:
    group, resource, plan = _planned(s)
    return Wish([("group.offsets", resource)], path={"group": group}, json={"plan_id": plan})


@_for("undoOffsets")
def _undo_offsets(s: Successes) -> Wish:
    group, resource, snapshot = _moved(s)
    return Wish([("group.offsets", resource)], path={"group": group}, json={"snapshot_id": snapshot})


@_for("applyOffsetsOfGroups")
def _apply_offsets_of_groups(s: Successes) -> Wish:
    found = [_planned(s), _planned(s)]
    plans = [{"group": group, "plan_id": plan} for group, _, plan in found]
    return Wish([("group.offsets", resource) for _, resource, _ in found], json={"plans": plans})


@_for("undoOffsetsOfGroups")
def _undo_offsets_of_groups(s: Successes) -> Wish:
    found = [_moved(s), _moved(s)]
    snapshots = [{"group": group, "snapshot_id": snapshot} for group, _, snapshot in found]
    return Wish([("group.offsets", resource) for _, resource, _ in found], json={"snapshots": snapshots})


# ---- messages --------------------------------------------------------------------------------------------------------


@_for("resendMessage")
def _resend(s: Successes) -> Wish:
    topic = s.control.topic()
    [stored] = s.control.produce(topic, "a")
    path = {"message_id": stored["message_id"]}
    return Wish([("message.resend", f"local/topics/{topic}")], path=path, json={"topic": topic})


@_for("deliverMessage")
def _deliver(s: Successes) -> Wish:
    topic, group = s.control.topic(), s.control.group()
    [stored] = s.control.produce(topic, "a")
    s.consumer(group)
    wish = {"topic": topic, "group": group}
    path = {"message_id": stored["message_id"]}
    return Wish([("message.deliver", f"local/groups/{group}")], path=path, json=wish)


def _scheduled(action: str, json: Any = None) -> Make:
    def make(s: Successes) -> Wish:
        topic = s.control.topic()
        [waiting] = sent(s.control, topic, "a")
        return Wish([(action, f"local/topics/{topic}")], path={"message_id": waiting["message_id"]}, json=json)

    return make


_WISHES["rescheduleMessage"] = _scheduled("message.reschedule", {"delay_ms": 7_200_000})
_WISHES["recallMessage"] = _scheduled("message.recall")


@_for("checkTransaction")
def _check(s: Successes) -> Wish:
    topic = s.control.topic()
    half = prepared(s.control, topic)
    return Wish([("transaction.check", f"local/topics/{topic}")], path={"transaction_id": half["transaction_id"]})


def _hook(s: Successes) -> dict[str, str]:
    return {"group": s.control.name("payments"), "url": "https://payments.example.org/checks"}


@_for("createTransactionHook")
def _create_hook(s: Successes) -> Wish:
    body = _hook(s)
    return Wish([("transaction_hook.create", f"local/transaction-hooks/{body['group']}")], json=body)


def _of_hook(action: str, json: Any = None) -> Make:
    def make(s: Successes) -> Wish:
        hook = s.made(f"{s.control.path}/transaction-hooks", _hook(s))
        return Wish([(action, f"local/transaction-hooks/{hook['group']}")], path={"hook_id": hook["id"]}, json=json)

    return make


_WISHES["updateTransactionHook"] = _of_hook("transaction_hook.update", {"enabled": False})
_WISHES["deleteTransactionHook"] = _of_hook("transaction_hook.delete")


@_for("redriveDeadLetters")
def _redrive(s: Successes) -> Wish:
    topic, group = s.control.topic(), s.control.group()
    bury(s.control, group, topic, "db down")
    body = {"filter": {}, "target": {"to": "failed_group"}}
    return Wish([("redrive.start", "jobs/{id}")], path={"group": group}, json=body)


# ---- jobs and schedules ----------------------------------------------------------------------------------------------


def _replay(s: Successes) -> dict[str, Any]:
    return {"type": "replay", "source": {"topic": s.control.topic()}, "target": {"topic": s.control.topic()}}


@_for("startJob")
def _start_job(s: Successes) -> Wish:
    return Wish([("replay.start", "jobs/{id}")], json=_replay(s))


@_for("cancelJob")
def _cancel_job(s: Successes) -> Wish:
    job = s.made("/api/v1/jobs", _replay(s), 202)["id"]
    return Wish([("replay.cancel", f"jobs/{job}")], path={"job_id": job})


@_for("pauseJob")
def _pause_job(s: Successes) -> Wish:
    job = s.made("/api/v1/jobs", _replay(s), 202)["id"]
    return Wish([("replay.pause", f"jobs/{job}")], path={"job_id": job})


@_for("resumeJob")
def _resume_job(s: Successes) -> Wish:
    job = s.made("/api/v1/jobs", _replay(s), 202)["id"]
    s.made(f"/api/v1/jobs/{job}:pause", None, 202)
    return Wish([("replay.resume", f"jobs/{job}")], path={"job_id": job})


@_for("updateJob")
def _update_job(s: Successes) -> Wish:
    job = s.made("/api/v1/jobs", _replay(s), 202)["id"]
    json = {"limits": {"messages_per_second": 500}}
    return Wish([("replay.limits", f"jobs/{job}")], path={"job_id": job}, json=json)


@_for("retryJob")
def _retry_job(s: Successes) -> Wish:
    job = s.made("/api/v1/jobs", _replay(s), 202)["id"]
    s.made(f"/api/v1/jobs/{job}:cancel", None, 202)
    return Wish([("replay.retry", f"jobs/{job}")], path={"job_id": job})


@_for("replayMissing")
def _replay_missing(s: Successes) -> Wish:
    return Wish([("replay.start", "jobs/{id}")], path={"job_id": s.reconciled()}, json={"dry_run": True})


def _schedule(s: Successes) -> dict[str, Any]:
    return {"name": s.control.name("nightly"), "cron": "0 3 * * *", "job": _replay(s)}


@_for("createSchedule")
def _create_schedule(s: Successes) -> Wish:
    return Wish([("schedule.create", "schedules/{id}")], json=_schedule(s))


def _of_schedule(action: str, resource: str = "schedules/{pk}", json: Any = None) -> Make:
    def make(s: Successes) -> Wish:
        pk = s.made("/api/v1/schedules", _schedule(s))["id"]
        return Wish([(action, resource.replace("{pk}", pk))], path={"schedule_id": pk}, json=json)

    return make


_WISHES["updateSchedule"] = _of_schedule("schedule.update", json={"enabled": False})
_WISHES["deleteSchedule"] = _of_schedule("schedule.delete")
_WISHES["runScheduleNow"] = _of_schedule("replay.start", "jobs/{id}")


# ---- alerts ----------------------------------------------------------------------------------------------------------


def _rule(s: Successes) -> dict[str, Any]:
    return {"name": s.control.name("rule"), "metric": "group_lag", "limit": 10}


def _channel(s: Successes) -> dict[str, Any]:
    return {"name": s.control.name("channel"), "kind": "webhook", "url": "https://hooks.example.org/gantry"}


def _silence(s: Successes) -> dict[str, Any]:
    ends_at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    return {"subject": s.control.name("quiet"), "ends_at": ends_at, "reason": "load test"}


@_for("createAlertRule")
def _create_rule(s: Successes) -> Wish:
    return Wish([("alert_rule.create", "alert-rules/{name}")], json=_rule(s))


def _of_rule(action: str, json: Any = None) -> Make:
    def make(s: Successes) -> Wish:
        rule = s.made("/api/v1/alert-rules", _rule(s))
        return Wish([(action, f"alert-rules/{rule['name']}")], path={"rule_id": rule["id"]}, json=json)

    return make


_WISHES["updateAlertRule"] = _of_rule("alert_rule.update", {"limit": 20})
_WISHES["deleteAlertRule"] = _of_rule("alert_rule.delete")


@_for("createAlertChannel")
def _create_channel(s: Successes) -> Wish:
    return Wish([("alert_channel.create", "alert-channels/{name}")], json=_channel(s))


def _of_channel(action: str, json: Any = None) -> Make:
    def make(s: Successes) -> Wish:
        channel = s.made("/api/v1/alert-channels", _channel(s))
        return Wish([(action, f"alert-channels/{channel['name']}")], path={"channel_id": channel["id"]}, json=json)

    return make


_WISHES["updateAlertChannel"] = _of_channel("alert_channel.update", {"enabled": False})
_WISHES["deleteAlertChannel"] = _of_channel("alert_channel.delete")
_WISHES["testAlertChannel"] = _of_channel("alert_channel.test")


@_for("createSilence")
def _create_silence(s: Successes) -> Wish:
    return Wish([("silence.create", "silences/{id}")], json=_silence(s))


@_for("endSilence")
def _end_silence(s: Successes) -> Wish:
    silence = s.made("/api/v1/silences", _silence(s))["id"]
    return Wish([("silence.end", f"silences/{silence}")], path={"silence_id": silence})


@_for("acknowledgeAlert")
def _acknowledge(s: Successes) -> Wish:
    _, alert, _ = s.behind()
    return Wish([("alert.acknowledge", f"alerts/{alert}")], path={"alert_id": alert}, json={"note": "mine"})


@_for("unacknowledgeAlert")
def _unacknowledge(s: Successes) -> Wish:
    _, alert, _ = s.behind()
    s.made(f"/api/v1/alerts/{alert}:acknowledge", {}, 200)
    return Wish([("alert.unacknowledge", f"alerts/{alert}")], path={"alert_id": alert})


@_for("retryDelivery")
def _retry_delivery(s: Successes) -> Wish:
    *_, delivery = s.behind()
    return Wish([("delivery.retry", f"deliveries/{delivery}")], path={"delivery_id": delivery})


# ---- clusters, brokers, definitions ----------------------------------------------------------------------------------


def _cluster(s: Successes) -> dict[str, Any]:
    return {"name": s.control.name("east"), "name_servers": ["127.0.0.1:9"]}


@_for("createCluster")
def _create_cluster(s: Successes) -> Wish:
    body = _cluster(s)
    return Wish([("cluster.create", body["name"])], json=body)


def _of_cluster(action: str, json: Any = None) -> Make:
    def make(s: Successes) -> Wish:
        name = s.made("/api/v1/clusters", _cluster(s))["name"]
        return Wish([(action, name)], path={"cluster": name}, json=json)

    return make


_WISHES["updateCluster"] = _of_cluster("cluster.update", {"name_servers": ["127.0.0.1:19"]})
_WISHES["deleteCluster"] = _of_cluster("cluster.delete")


@_for("forgetBroker")
def _forget_broker(s: Successes) -> Wish:
    cluster, *_ = s.behind()
    path = {"cluster": cluster, "broker": "broker-gone"}
    return Wish([("broker.forget", f"{cluster}/brokers/broker-gone")], path=path)


@_for("updateBrokerSettings")
def _update_broker(s: Successes) -> Wish:
    body = {"settings": {"shortPollingTimeMills": "999"}}
    s.put_back("broker-a", {"shortPollingTimeMills": "1000"})
    return Wish([("broker.update", "local/brokers/broker-a")], path={"broker": "broker-a"}, json=body)


def _of_replica(action: str, broker: str, replica: str | None = None, json: Any = None, **query: str) -> Make:
    def make(s: Successes) -> Wish:
        cluster = s.led()
        path = {"cluster": cluster, "broker": broker} | ({} if replica is None else {"replica": replica})
        resource = f"{cluster}/brokers/{broker}" + ("" if replica is None else f"/replicas/{replica}")
        return Wish([(action, resource)], path=path, json=json, query=query)

    return make


_WISHES["promoteReplica"] = _of_replica("replica.promote", failover.PAIR_TO_HAND_OVER, "2")
_WISHES["removeReplica"] = _of_replica("replica.remove", failover.PAIR_TO_SHRINK, "2", living="true")
_WISHES["acceptReplicaLoss"] = _of_replica("replica.accept_loss", failover.UNCLEAN, "1")
_WISHES["adoptReplicas"] = _of_replica("replica.adopt", failover.SET_BACK, json={"in_sync": [1], "of_cluster": "C"})
_WISHES["updateReplicaPolicy"] = _of_replica("replica.policy", failover.PAIR, json={"min_in_sync": 2})


def _of_account(action: str, json: Any) -> Make:
    def make(s: Successes) -> Wish:
        cluster, key = s.guarded(), f"account-{s.control.name()}"
        if action != "account.create":
            s.made(f"/api/v1/clusters/{cluster}/accounts", {"access_key": key})
        body = {"access_key": key} if action == "account.create" else json
        path = {"cluster": cluster, "access_key": key}
        return Wish([(action, f"{cluster}/accounts/{key}")], path=path, json=body)

    return make


_WISHES["createBrokerAccount"] = _of_account("account.create", None)
_WISHES["updateBrokerAccount"] = _of_account("account.update", {"topic_permissions": {"parcels": "SUB"}})
_WISHES["deleteBrokerAccount"] = _of_account("account.delete", None)


@_for("setGlobalAddresses")
def _set_addresses(s: Successes) -> Wish:
    cluster = s.guarded()
    records = [("global_addresses.update", f"{cluster}/global-addresses")]
    return Wish(records, path={"cluster": cluster}, json={"global_white_addresses": ["10.0.0.7"]})


@_for("applyDefinitions")
def _apply_definitions(s: Successes) -> Wish:
    topic, role = s.control.name(), s.control.name("role")
    rules = [{"kind": "topic", "pattern": "orders*", "allow": ["read"], "refuse": []}]
    definitions = s.admin.get("/api/v1/definitions", params={"sections": "roles"}).json()
    definitions["roles"] = [{"name": role, "description": "", "rules": rules}]
    definitions["clusters"] = [{"name": "local", "topics": [{"name": topic}], "groups": None}]
    return Wish(
        [
            ("definitions.apply", "definitions"),
            ("topic.create", f"local/topics/{topic}"),
            ("role.create", f"roles/{role}"),
        ],
        json={"definitions": definitions},
    )


# ---- access ----------------------------------------------------------------------------------------------------------


@_for("createRole")
def _create_role(s: Successes) -> Wish:
    body = {"name": s.control.name("role"), "rules": [{"kind": "topic", "pattern": "orders*", "allow": ["read"]}]}
    return Wish([("role.create", f"roles/{body['name']}")], json=body)


def _of_role(action: str, json: Any = None) -> Make:
    def make(s: Successes) -> Wish:
        name = s.made("/api/v1/roles", _create_role(s).json)["name"]
        return Wish([(action, f"roles/{name}")], path={"role": name}, json=json)

    return make


_WISHES["updateRole"] = _of_role("role.update", {"description": "for the night"})
_WISHES["deleteRole"] = _of_role("role.delete")


@_for("createUser")
def _create_user(s: Successes) -> Wish:
    body = {"username": s.control.name("person"), "password": PASSWORD, "role": "viewer"}
    return Wish([("user.create", f"users/{body['username']}")], json=body)


def _of_user(action: str, json: Any = None) -> Make:
    def make(s: Successes) -> Wish:
        name, pk, _ = s.person()
        return Wish([(action, f"users/{name}")], path={"user_id": pk}, json=json)

    return make


_WISHES["updateUser"] = _of_user("user.update", {"role": "developer", "end_sessions": True})
_WISHES["deleteUser"] = _of_user("user.delete")


@_for("endSession")
def _end_session(s: Successes) -> Wish:
    name, _, browser = s.person()
    return Wish([("user.session_end", f"users/{name}")], path={"session_id": s.session_of(browser)})


@_for("endMySession")
def _end_my_session(s: Successes) -> Wish:
    name, _, browser = s.person()
    s.browser(name)
    other = {"session_id": s.session_of(browser, current=False)}
    return Wish([("user.session_end", f"users/{name}")], path=other, client=browser, actor=name)


@_for("endMyOtherSessions")
def _end_my_others(s: Successes) -> Wish:
    name, _, browser = s.person()
    s.browser(name), s.browser(name)
    return Wish([("user.session_end", f"users/{name}")] * 2, client=browser, actor=name)


@_for("createToken")
def _create_token(s: Successes) -> Wish:
    body = {"name": s.control.name("token"), "scopes": ["read"]}
    return Wish([("token.create", f"users/admin/tokens/{body['name']}")], json=body)


@_for("deleteToken")
def _delete_token(s: Successes) -> Wish:
    token = s.made("/api/v1/tokens", _create_token(s).json)
    return Wish([("token.delete", f"users/admin/tokens/{token['name']}")], path={"token_id": str(token["id"])})


@_for("login")
def _login(s: Successes) -> Wish:
    name, _, _ = s.person()
    body = {"username": name, "password": PASSWORD}
    return Wish([("session.login", f"users/{name}")], json=body, client=s.stranger(), actor=name)


@_for("logout")
def _logout(s: Successes) -> Wish:
    name, _, browser = s.person()
    return Wish([("session.logout", f"users/{name}")], client=browser, actor=name)


@_for("changePassword")
def _change_password(s: Successes) -> Wish:
    name, _, browser = s.person()
    body = {"current": PASSWORD, "new": "another long pass phrase"}
    return Wish([("user.password", f"users/{name}")], json=body, client=browser, actor=name)


@_for("updateMe")
def _update_me(s: Successes) -> Wish:
    name, _, browser = s.person()
    return Wish([("user.update", f"users/{name}")], json={"language": "zh"}, client=browser, actor=name)


# ---- saved searches --------------------------------------------------------------------------------------------------


def _search(s: Successes) -> dict[str, Any]:
    query = {"mode": "content", "topic": "orders", "where": "$.amount >= 1000", "span": "24h"}
    return {"name": s.control.name("search"), "cluster": "local", "query": query}


@_for("saveSearch")
def _save_search(s: Successes) -> Wish:
    return Wish([("search.create", "searches/{id}")], json=_search(s))


def _of_search(action: str, json: Any = None) -> Make:
    def make(s: Successes) -> Wish:
        pk = str(s.made("/api/v1/me/searches", _search(s))["id"])
        return Wish([(action, f"searches/{pk}")], path={"search_id": pk}, json=json)

    return make


_WISHES["updateSavedSearch"] = _of_search("search.update", {"name": "another name"})
_WISHES["deleteSavedSearch"] = _of_search("search.delete")
