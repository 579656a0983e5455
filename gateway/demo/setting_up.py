"""Creates what the demo needs and is not there yet, and removes it again."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from gateway.cli.api import Api, Refused, part
from gateway.demo.plan import (
    GROUPS,
    NIGHTLY,
    REPLAY,
    RULE,
    TOPICS,
    Topic,
    replay_of,
    rule_of,
    schedule_of,
)

Say = Callable[[str], None]

_NOT_FOUND: Final = 404
_EXISTS: Final = 409
_INVALID: Final = 422
_OF_GROUPS: Final = ("%DLQ%", "%RETRY%")
_OVER: Final = frozenset({"succeeded", "partial", "failed", "cancelled"})
_CANCEL_S: Final = 60.0


def create_names(api: Api, say: Say) -> frozenset[str]:
    """Create topics and groups; return the topics that are new."""
    new = frozenset(topic.name for topic in TOPICS if _create_topic(api, topic, say))
    for group in GROUPS:
        _is_new(api, "groups", {"name": group})
    say(f"{len(TOPICS)} topics and {len(GROUPS)} groups are there, {len(new)} topics are new.")
    return new


def create_work(api: Api, cluster: str, say: Say) -> None:
    """Create schedule and alert rule, and start the replay, unless they exist; say what is refused, and go on."""
    wanted = (
        ("/alert-rules", RULE, rule_of(cluster)),
        ("/schedules", NIGHTLY, schedule_of(cluster)),
        ("/jobs", REPLAY, replay_of(cluster)),
    )
    for path, name, body in wanted:
        try:
            if not any(_named(api, path, name)):
                api.post(path, body)
            say(f"{path} has “{name}”.")
        except Refused as refusal:
            say(f"{path}: {refusal}")


def remove_all(api: Api, say: Say) -> bool:
    """Remove everything that the demo created; return whether nothing of it is left. Jobs stay in the history."""
    for job in _named(api, "/jobs", REPLAY, NIGHTLY):
        if job["state"] not in _OVER:
            _cancel(api, job["id"])
    done = [
        _remove(api, f"{path}/{part(str(each['id']))}", say)
        for path, name in (("/schedules", NIGHTLY), ("/alert-rules", RULE))
        for each in list(_named(api, path, name))
    ]
    done += [_remove(api, f"groups/{part(group)}", say) for group in GROUPS]
    ours = {topic.name for topic in TOPICS} | {f"{prefix}{group}" for group in GROUPS for prefix in _OF_GROUPS}
    done += [_recall_all(api, topic.name, say) for topic in TOPICS]
    there = [topic["name"] for topic in api.items("topics", kind="all", search="demo-")]
    done += [_remove(api, f"topics/{part(topic)}", say) for topic in there if topic in ours]
    return all(done)


def _recall_all(api: Api, topic: str, say: Say) -> bool:
    """Recall what waits for its time in a topic, which would wait on without it; return whether nothing waits now."""
    try:
        waiting = [each["message_id"] for each in api.items("scheduled", topic=topic)]
    except Refused as refusal:
        if refusal.status == _INVALID:  # the cluster keeps no delivery times, so nothing waits
            return True
        raise
    recalled = [_remove(api, f"scheduled/{part(each)}", say, fine=(_NOT_FOUND, _EXISTS)) for each in waiting]
    return all(recalled)


def _create_topic(api: Api, topic: Topic, say: Say) -> bool:
    body = {"name": topic.name, "read_queues": topic.queues, "write_queues": topic.queues}
    try:
        return _is_new(api, "topics", {**body, "message_type": topic.message_type})
    except Refused as refusal:
        if refusal.status != _INVALID:
            raise
        say(f"{topic.name} is not declared as {topic.message_type}: {refusal}")
        return _is_new(api, "topics", body)


def _is_new(api: Api, path: str, body: Mapping[str, Any]) -> bool:
    """Create something; return False if it was there."""
    try:
        api.post(path, dict(body))
    except Refused as refusal:
        if refusal.status != _EXISTS:
            raise
        return False
    return True


def _named(api: Api, path: str, *names: str) -> Iterator[Mapping[str, Any]]:
    return (item for item in api.items(path) if item["name"] in names)


def _cancel(api: Api, job: str) -> None:
    """Cancel a job and wait for its end: until then its topics cannot be removed."""
    api.post(f"/jobs/{part(job)}:cancel")
    until = time.monotonic() + _CANCEL_S
    while api.get(f"/jobs/{part(job)}")["state"] not in _OVER and time.monotonic() < until:
        time.sleep(0.5)


def _remove(api: Api, path: str, say: Say, *, fine: Collection[int] = (_NOT_FOUND,)) -> bool:
    """Remove something; return whether it is gone now, which a refusal with one of the `fine` statuses also says."""
    try:
        api.change("DELETE", path)
    except Refused as refusal:
        if refusal.status not in fine:
            say(f"{path} is still there: {refusal}")
            return False
    return True
