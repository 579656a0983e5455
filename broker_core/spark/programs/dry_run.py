"""A dry run: what a job would do with the messages that it selects. Nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from broker_core.job_folder import NOT_YET_KNOWN, say
from broker_core.spark.bytes_read import BytesRead
from broker_core.spark.copies import COLUMNS
from broker_core.spark.forecast import QueueForecast, Trial, forecast, forecast_by_sql, moment, samples_of
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import count_of
from broker_core.spark.programs.program import OK, ProgramResult, Run
from broker_core.spark.programs.selection import Selection
from broker_core.spark.reading import Partition
from broker_core.spark.replay_plan import plan_by_queue
from broker_core.spark.row_sql import RowSql

USUAL_RATE: Final = 30_000
"""Messages a second of a job without a limit, for its estimated duration."""


def dry_run(run: Run, selection: Selection, sql: RowSql, *, verb: str, trial: Trial | None = None) -> ProgramResult:
    """Count what the job would read and write the report; `verb` says what it would do with it, as "copied".

    `trial` makes the copies of expressions, so that what they spoil is counted; None: there are no such expressions.
    """
    with run.timed("planning"):
        by_queue = plan_by_queue(selection.options, selection.positions)
    planned = sum(map(count_of, chain(*by_queue.values())))
    run.progress.write({"planned": planned}, phase="counting", unknown=("read", *NOT_YET_KNOWN))
    queues = _counted(run, selection.options, sql, [by_queue[key] for key in sorted(by_queue)], trial)
    if run.is_stopping:
        return ProgramResult(run.stop_code, run.stop_reason)
    limits = run.request.asked.get("limits") or {}
    totals = _totals(queues, limits)
    samples = samples_of(queues, selection.options)
    totals["refused"] = None if trial is None else sum(queue.refused for queue in queues)
    refused = f", {totals['refused']:,} would be refused" if totals["refused"] else ""
    sentence = f"{_amount(totals)} would be {verb}{refused}; this was a dry run, nothing was written"
    told = {"summary": sentence, "dry_run": True, **selection.told}
    short = {**told, **totals, "queues": [_queue(each) for each in queues]}
    # The row of the job keeps the summary, and lists of jobs show it: no content of messages is in there.
    run.folder.write_json("summary.json", short)
    run.folder.write_json("report.json", {**short, **samples, "failures": _failures(run, queues)})
    matched, damaged = totals["found"] + (totals["refused"] or 0), totals["damaged"]
    # What nobody looked for counts as what it seemed to be: a message, or one that a filter leaves out.
    filtered = planned - matched - (damaged or 0)
    counters = {"planned": planned, "read": planned, "filtered": filtered, "matched": matched, "written": 0}
    known = {} if damaged is None else {"damaged": damaged}
    unknown = () if known else ("damaged",)
    run.progress.write(counters | known, phase="done", unknown=unknown, done=True)
    return ProgramResult(OK, sentence)


def _counted(
    run: Run, options: SourceOptions, sql: RowSql, by_queue: Sequence[Sequence[Partition]], trial: Trial | None
) -> list[QueueForecast]:
    if sql.is_empty or not by_queue:
        read = BytesRead()
        with run.timed("counting"):
            counted = forecast(by_queue, options, on_rows=lambda _: not run.is_stopping, read=read)
        say(read.text())
        return counted
    session = run.start_spark(lambda: None, is_short=lambda: False)
    sql.check(session, COLUMNS)

    def stop_if_asked() -> None:
        if run.is_stopping:
            session.interruptAll()

    with run.timed("counting"):
        return run.wait_for(lambda: forecast_by_sql(session, by_queue, options, sql, trial), stop_if_asked)


def _failures(run: Run, queues: Sequence[QueueForecast]) -> list[dict[str, str]]:
    """Return the first messages of each queue that would be refused, as the report of the job itself names them."""
    found = []
    for queue in queues:
        part = queue.parts[0]
        place = f"{run.request.cluster}/{part.broker}/{part.topic}/{part.queue_id}"
        found += [{"source": f"{place}/{offset}", "reason": reason} for offset, reason in queue.failures]
    return found


def _amount(totals: dict[str, Any]) -> str:
    if totals["counted_by"] != "tag_hashes":
        return f"{totals['messages']:,} messages"
    return f"at most {totals['messages']:,} messages (another tag may have the same hash)"


def _totals(queues: Sequence[QueueForecast], limits: dict[str, Any]) -> dict[str, Any]:
    found, most = sum(queue.messages for queue in queues), limits.get("max_messages")
    messages = found if most is None else min(found, most)
    rate = limits.get("messages_per_second")
    # Which of the messages a limit takes is not known before a job takes them.
    is_known = messages == found
    return {
        "messages": messages,
        "found": found,
        "counted_by": queues[0].counted_by if queues else "queues",
        "damaged": _sum([queue.damaged for queue in queues]),
        "bytes": _sum([queue.bytes for queue in queues]) if is_known else None,
        "first_at": moment(min((at for queue in queues for at, _ in queue.first if is_known), default=None)),
        "last_at": moment(max((at for queue in queues for at, _ in queue.last if is_known), default=None)),
        "estimated_ms": round(messages / (rate or USUAL_RATE) * 1000),
        "estimated_by": "limit" if rate else "usual_rate",
    }


def _sum(numbers: Sequence[int | None]) -> int | None:
    """Return the sum; None if one of the numbers is not known."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _queue(queue: QueueForecast) -> dict[str, Any]:
    part, end = queue.parts[0], queue.parts[-1].end
    return {
        "broker": part.broker,
        "queue_id": part.queue_id,
        "from": part.begin,
        "to": end,
        "messages": queue.messages,
        "damaged": queue.damaged,
        "bytes": queue.bytes,
        "first_at": moment(min((at for at, _ in queue.first), default=None)),
        "last_at": moment(max((at for at, _ in queue.last), default=None)),
    }
