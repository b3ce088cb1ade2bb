"""The trials of one search: made one at a time, counted, told of, and kept as evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from supervisor.tuning.candidates import Changes
from supervisor.tuning.chosen import Chosen
from supervisor.tuning.costs import cost_profile, label
from supervisor.tuning.effort import Effort
from supervisor.tuning.profile_file import Attempt
from supervisor.tuning.runner import Runner
from supervisor.tuning.score import Ratios
from worker.settings import WorkerSettings
from worker.tuning.records import Measured, Result, SegmentTimes, Text, TrialSpec

OF_THE_FRONT = ("min_first_tokens",)
"""What may be changed and isn't the worker's: it is in the texts that a trial is given."""


@dataclass(frozen=True, slots=True)
class Step:
    """Where a search is."""

    doing: str
    """Empty at its end."""
    made: int
    """Trials,"""
    planned: int
    """of so many, as far as can be told."""


class Trials:
    """Makes them, by what is changed against the settings as they are."""

    def __init__(
        self, run: Runner, settings: WorkerSettings, effort: Effort, max_memory: float, tell: Callable[[Step], None]
    ) -> None:
        """
        Args:
            settings: as they are without tuning.
            max_memory: of theirs, as a multiple, that anything else may take.
        """
        self._run = run
        self._settings = settings
        self._effort = effort
        self._max_memory = max_memory
        self._tell = tell
        self._measured: dict[str, list[Measured]] = defaultdict(list)
        self.made = 0
        self.planned = 0
        self.attempts: list[Attempt] = []

    def settings(self, changes: Changes) -> WorkerSettings:
        """
        Raises:
            ValueError: the changes don't go together.
        """
        return replace(self._settings, **{n: value for n, value in changes.items() if n not in OF_THE_FRONT})

    def make(self, doing: str, changes: Changes, texts: Sequence[Text]) -> Result:
        """One trial."""
        self.say(doing)
        spec = TrialSpec(
            settings=self.settings(changes),
            texts=tuple(texts),
            repeats=self._effort.repeats,
            firsts=self._effort.firsts,
        )
        result = self._run(spec)
        self.count()
        if isinstance(result, Measured) and result.texts:
            self._measured[named(changes)].append(result)
        return result

    def say(self, doing: str) -> None:
        """What is done now."""
        self._tell(Step(doing, self.made, self.planned))

    def count(self) -> None:
        """One more was made."""
        self.made += 1

    def finish(self) -> None:
        """Nothing more is made, whatever was planned."""
        self.planned = self.made
        self.say("")

    def note(self, stage: str, changes: Changes, ratios: Ratios, remark: str = "") -> bool:
        """Keep what an alternative came to; whether it may be used at all."""
        too_large = self.too_large(ratios.memory)
        self.keep(
            Attempt(
                stage=stage,
                tried=named(changes),
                score=ratios.score,
                first=ratios.first,
                real_time=ratios.real_time,
                together=ratios.together,
                memory=ratios.memory,
                note=too_large or remark,
            )
        )
        return not too_large

    def too_large(self, memory: float) -> str:
        """What is to be said of so many times the defaults' memory; empty if it may be."""
        return f"takes {memory:.2f} times the memory" if memory > self._max_memory else ""

    def keep(self, attempt: Attempt) -> None:
        """As evidence."""
        self.attempts.append(attempt)

    def failed(self, stage: str, changes: Changes, reason: str) -> None:
        """Keep that an alternative doesn't work."""
        self.keep(Attempt(stage=stage, tried=named(changes), note=reason))

    def provider(self, changes: Changes) -> str:
        """That of the engine in trials with these changes, of which there was one."""
        return self._measured[named(changes)][-1].engine.provider

    def memory(self, changes: Changes) -> int:
        """Bytes that a worker with these changes had at most."""
        return max(trial.rss for trial in self._measured[named(changes)])

    def costs(self, changes: Changes) -> dict[str, dict[str, float]]:
        """What all trials with these changes have shown, as `frontend.planning.stored` has it."""
        measured = self._measured[named(changes)]
        segments: list[SegmentTimes] = [segment for trial in measured for segment in trial.segments]
        if not segments:
            return {}
        engine = measured[-1].engine
        return {label(engine): cost_profile(engine, segments).as_dict()}


def named(changes: Changes) -> str:
    """For people."""
    return str(Chosen.of(changes)) or "defaults"
