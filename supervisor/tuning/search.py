"""The search: groups of settings one after the other, then the planner's knobs, then the judgement on other texts.

How many workers there are is asked last, of real servers with what was chosen: any other number of them divides the
cores, which none of the trials does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from frontend.text.segment import Notation
from shm.engine_info import EngineInfo
from supervisor.tuning.candidates import Changes, Groups
from supervisor.tuning.costs import WindowCosts, window_costs
from supervisor.tuning.effort import BETTER, STEP, Effort
from supervisor.tuning.knobs import KnobSearch
from supervisor.tuning.profile_file import Attempt
from supervisor.tuning.runner import Runner
from supervisor.tuning.score import Ratios, compare, geometric_mean, middle
from supervisor.tuning.several_workers import SEVERAL, Place, judge
from supervisor.tuning.simulation import Knobs, scripts
from supervisor.tuning.trials import Step, Trials, named
from worker.settings import WorkerSettings
from worker.split.windows import WindowShape
from worker.tuning.records import Failed, Measured, Result, Text

_WIDE = {"first_window": 0.15, "window_growth": 2.0, "window": 1.2}
"""Windows of many lengths, from which it shows what one costs."""


class CannotTune(Exception):
    """Not even the settings as they are can be measured; the message says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

    chosen: Mapping[str, Any]
    """Nothing where the defaults stay."""
    verdict: str
    holdout_gain: float | None
    """Of the best against the default, taken or not; None if nothing came so far."""
    costs: dict[str, dict[str, float]]
    """Of what was chosen; see `frontend.planning.stored`."""
    trials: int
    attempts: tuple[Attempt, ...]


class Search:
    """One search. Its only clocks are in the trials."""

    def __init__(
        self,
        run: Runner,
        settings: WorkerSettings,
        min_first_tokens: int,
        effort: Effort,
        *,
        max_memory: float,
        shortest: int,
        fixed: Collection[str] = (),
        knob_trials: int,
        place: Place | None = None,
        tell: Callable[[Step], None] = lambda step: None,
    ) -> None:
        """
        Args:
            settings: as they are without tuning; with `min_first_tokens`, the default.
            max_memory: of the default's, as a multiple.
            shortest: see `supervisor.tuning.knobs.KnobSearch`.
            fixed: names of settings that the user has given.
            knob_trials: of optuna; 0: the second stage is left out.
            place: for servers with one worker and with several; None: nothing else than one is thought of.
        """
        self._trials = Trials(run, settings, effort, max_memory, tell)
        self._min_first_tokens = min_first_tokens
        self._effort = effort
        self._shortest = shortest
        self._fixed = fixed
        self._knob_trials = knob_trials
        self._place = place if effort.server_pairs else None

    def search(self, groups_for: Callable[[EngineInfo], Groups]) -> Found:
        """
        Args:
            groups_for: what to try, when it is known what speaks without tuning.

        Raises:
            CannotTune: the settings as they are don't work.
        """
        effort = self._effort
        # What is made once of a model is made here, so that nobody's loading is measured with it.
        loaded = _working(self._trials.make("loading", {}, ()))
        groups = groups_for(loaded.engine)
        self._trials.planned = 2 + sum(len(found) + 1 for found in groups.values()) + 2 * effort.pairs
        self._trials.planned += len(groups.get("model", ()))
        self._trials.planned += (3 + effort.finalists) * bool(self._knob_trials)
        self._trials.planned += (1 + effort.server_pairs) * bool(self._place)
        self._notation = Notation.of(loaded.engine)
        training = [(_known(text, self._notation),) for text in effort.training]
        self._default = _working(self._trials.make(named({}), {}, training))
        standing, measured = self._descend(groups, training)
        costs = self._calibrate(standing, measured, training)
        if self._knob_trials:
            standing = self._turn_knobs(standing, costs)
        found = self._judge(standing, costs)
        if self._place:
            found = self._with_workers(found, self._place)
        self._trials.finish()
        return found

    def _descend(self, groups: Groups, training: Sequence[Text]) -> tuple[Changes, Measured]:
        """The best of each group in turn, and its last trial.

        What stands is measured before a group and after it, so that a machine that becomes busy meanwhile speaks
        neither for an alternative nor against it.
        """
        standing: Changes = {}
        opening = self._default
        for group, alternatives in groups.items():
            tried = [(c, self._try(c, standing, training)) for c in alternatives]
            again = self._trials.make("what stands, again", standing, training)
            closing = again if isinstance(again, Measured) else opening
            best: tuple[float, Changes, Measured] | None = None
            for changes, result in tried:
                score = self._note(group, changes, result, (opening, closing))
                if score >= (best[0] if best else STEP) and isinstance(result, Measured):
                    best = (score, changes, result)
            opening = closing
            if best:
                standing, opening = {**standing, **best[1]}, best[2]
        return standing, opening

    def _try(self, changes: Changes, standing: Changes, training: Sequence[Text]) -> Result:
        """One alternative. What is made once of another model is made before it is measured: it takes memory."""
        tried = {**standing, **changes}
        if "model" in changes:
            loaded = self._trials.make(f"loading {named(changes)}", tried, ())
            if isinstance(loaded, Failed):
                return loaded
        return self._trials.make(named(changes), tried, training)

    def _calibrate(self, standing: Changes, measured: Measured, training: Sequence[Text]) -> WindowCosts:
        """What windows cost, from as many lengths of them as may be tried."""
        if self._knob_trials and measured.engine.first_block and not _WIDE.keys() & set(self._fixed):
            wide = self._trials.make("windows of many lengths", {**standing, **_WIDE}, training)
            if isinstance(wide, Measured):
                return window_costs([wide, measured])
        return window_costs([measured])

    def _turn_knobs(self, standing: Changes, costs: WindowCosts) -> Changes:
        """The predicted best few are tried; what stands, with the best of them if it is better."""
        search = KnobSearch(
            self._effort.training,
            self._notation,
            costs,
            self._trials.settings(standing),
            self._min_first_tokens,
            self._fixed,
            self._shortest,
        )

        def tell(number: int) -> None:
            self._trials.say(f"simulating, {number} of {self._knob_trials}")

        finalists = search.best(self._knob_trials, self._effort.finalists, tell) if search.free else []
        if not finalists:
            return standing
        planned = self._planned(self._effort.training, costs, standing)
        before = self._trials.make("what stands, as it would be cut", standing, planned)
        tried: list[tuple[Changes, Result, str]] = []
        for finalist in finalists:
            turned = {**standing, **finalist.changes}
            texts = self._planned(self._effort.training, costs, turned)
            result = self._trials.make(named(finalist.changes), turned, texts)
            tried.append((turned, result, f"predicted {finalist.score:.2f}"))
        after = self._trials.make("what stands, again", standing, planned)
        others = [each for each in (before, after) if isinstance(each, Measured)]
        best: Changes = standing
        best_score = STEP
        for changes, result, remark in tried if others else ():
            score = self._note("knobs", changes, result, others, remark)
            if score >= best_score:
                best, best_score = changes, score
        return best

    def _judge(self, standing: Changes, costs: WindowCosts) -> Found:
        """What was found against the default, on texts that nothing was chosen by."""
        # Cut by what the default itself costs, as it would be without tuning.
        default_texts = self._planned(self._effort.holdout, window_costs([self._default]), {})
        if not standing:
            self._trials.make("holdout: defaults", {}, default_texts)
            return self._found({}, "the defaults stay: nothing that was tried was better", None)
        texts = self._planned(self._effort.holdout, costs, standing)
        pairs: list[Ratios] = []
        for number in range(self._effort.pairs):
            # What comes second finds another machine than what came first: they take turns in that.
            if number % 2:
                tried = self._trials.make(f"holdout: {named(standing)}", standing, texts)
                default = self._trials.make("holdout: defaults", {}, default_texts)
            else:
                default = self._trials.make("holdout: defaults", {}, default_texts)
                tried = self._trials.make(f"holdout: {named(standing)}", standing, texts)
            if isinstance(tried, Failed):
                self._trials.failed("holdout", standing, tried.reason)
                return self._found({}, f"the defaults stay: the best failed on the holdout: {tried.reason}", None)
            pairs.append(compare(tried, _working(default)))
        ratios = middle(pairs)
        gain = ratios.score - 1
        said = f"{abs(gain):.1%} {'better' if gain >= 0 else 'worse'} on the holdout"
        agree = min(each.score for each in pairs) > 1
        if not self._trials.note("holdout", standing, ratios):
            return self._found({}, f"the defaults stay: the best takes {ratios.memory:.2f} times the memory", gain)
        if ratios.score < BETTER:
            return self._found({}, f"the defaults stay: the best was {said}, and {BETTER - 1:.0%} are asked for", gain)
        if not agree:
            return self._found({}, f"the defaults stay: the best was {said}, but not in each pair of trials", gain)
        return self._found(standing, f"{named(standing)}: {said}", gain)

    def _with_workers(self, found: Found, place: Place) -> Found:
        """The same, with as many workers as were measured to be better, if any were."""
        gain = judge(place, self._trials, found.chosen, self._effort.server_pairs)
        made, attempts = self._trials.made, tuple(self._trials.attempts)
        if not gain:
            return replace(found, trials=made, attempts=attempts)
        chosen = {**found.chosen, "workers": SEVERAL}
        verdict = f"{found.verdict}; {SEVERAL} workers: {gain}"
        return replace(found, chosen=chosen, verdict=verdict, trials=made, attempts=attempts)

    def _found(self, chosen: Changes, verdict: str, gain: float | None) -> Found:
        trials = self._trials
        return Found(chosen, verdict, gain, trials.costs(chosen), trials.made, tuple(trials.attempts))

    def _note(
        self, stage: str, changes: Changes, result: Result, others: Sequence[Measured], remark: str = ""
    ) -> float:
        """The least of the scores against the others, which are what stands, before and after; 0 if it can't be used.

        What is better than both is more than the machine's moods. Memory is compared with the default's.
        """
        if isinstance(result, Failed):
            self._trials.failed(stage, changes, result.reason)
            return 0.0
        found = [compare(result, other) for other in others]
        ratios = Ratios(
            first=geometric_mean(each.first for each in found),
            real_time=geometric_mean(each.real_time for each in found),
            together=geometric_mean(each.together for each in found),
            memory=result.rss / self._default.rss,
        )
        least = min(each.score for each in found)
        if least < STEP <= ratios.score:
            remark = ", ".join(filter(None, (remark, "no better than what stands was at another time")))
        return least if self._trials.note(stage, changes, ratios, remark) else 0.0

    def _planned(self, texts: Sequence[str], costs: WindowCosts, changes: Changes) -> list[Text]:
        """As the front would cut them with those settings."""
        shape = WindowShape.of(self._trials.settings(changes))
        knobs = Knobs(shape, changes.get("min_first_tokens", self._min_first_tokens))
        return [scripts(text, self._notation, costs, knobs) for text in texts]


def _working(result: Result) -> Measured:
    if isinstance(result, Failed):
        raise CannotTune(f"the settings as they are don't work here: {result.reason}")
    return result


def _known(text: str, notation: Notation) -> str:
    """What the model can say of it; all of it, if it is Kokoro."""
    return "".join(filter(notation.vocabulary.__contains__, text))
