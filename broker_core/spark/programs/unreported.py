"""What tasks of a replay sent and did not report: it is in the target, as after any kill."""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.errors import GantryError
from broker_core.job_folder import say
from broker_core.spark.checkpoint import Checkpoint
from broker_core.spark.lanes import ReplayJob, with_unreported
from broker_core.spark.replay_plan import Lane, Start


class Unreported:
    """Found in the target at the end of a run; the next run finds it again."""

    def __init__(self) -> None:
        self.chunks: dict[int, Checkpoint] = {}
        """Their totals with the copies that no checkpoint has, by chunk."""
        self.unknown = 0
        """Copies of which it is not known whether they are stored."""

    def look(self, job: ReplayJob, lanes: Iterable[tuple[Lane, Start, int]]) -> None:
        """Look once for the copies of lanes; of each it is said how many it sent without learning their outcome."""
        can_say = True
        for lane, start, unknown in lanes:
            if can_say:
                try:
                    found = with_unreported(job, lane, start)
                except GantryError as error:
                    say(f"copies that were sent and not reported are not counted: {error}")
                    can_say = False
                else:
                    if found is not None:
                        self.chunks[found.chunk] = found
                    continue
            self.unknown += unknown

    def words(self) -> str:
        """Return what a sentence about the run must add; empty if all is known."""
        return f"; it is not known whether {self.unknown:,} more are stored" if self.unknown else ""
