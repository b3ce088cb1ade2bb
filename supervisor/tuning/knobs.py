"""The second stage: optuna looks for windows and shortest segments in simulated time."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from frontend.text.segment import Notation
from supervisor.tuning.costs import WindowCosts
from supervisor.tuning.simulation import Knobs, Prediction, admitted, predict
from worker.settings import WorkerSettings
from worker.split.windows import WindowShape

INSTALL = "in its folder: .venv/bin/python -m pip install -c constraints.txt -e '.[tune]'"

LONGEST_MINIMUM = 80
"""Tokens: a first segment that must be longer than a sentence is none."""

LONGEST_WINDOW = 1.2
"""Seconds: a newcomer waits until a window is made."""

_SHAPE = ("window", "first_window", "window_growth")

_SEED = 1
_STEP = 0.05
"""Seconds that windows' lengths are multiples of."""


@dataclass(frozen=True, slots=True)
class Found:
    """One way to set the knobs."""

    changes: Mapping[str, Any]
    """Against the settings that stand."""
    score: float
    """Predicted, against the same."""


def available() -> bool:
    """Whether optuna is installed."""
    return importlib.util.find_spec("optuna") is not None


class KnobSearch:
    """Same costs, same texts, same result."""

    def __init__(
        self,
        texts: Sequence[str],
        notation: Notation,
        costs: WindowCosts,
        settings: WorkerSettings,
        min_first_tokens: int,
        fixed: Collection[str],
        shortest: int,
    ) -> None:
        """
        Args:
            texts: of phonemes.
            settings: that stand, with min_first_tokens.
            fixed: names of those that aren't to be changed.
            shortest: the least min_first_tokens that is tried: short segments sound worse, so less than the default
                is for the user to allow.
        """
        self._texts = texts
        self._notation = notation
        self._costs = costs
        self._settings = settings
        self._stands = {name: getattr(settings, name) for name in _SHAPE} | {"min_first_tokens": min_first_tokens}
        self._free = {name for name in self._stands if name not in fixed}
        if not costs.windowed:
            self._free &= {"min_first_tokens"}
        self._shortest = shortest
        self._listeners = 1
        self._listeners = admitted(self._predict(self._stands).work, costs)
        self._reference = self._predict(self._stands)

    @property
    def free(self) -> Collection[str]:
        """The knobs that may be turned."""
        return self._free

    def best(self, trials: int, count: int, tell: Callable[[int], None]) -> list[Found]:
        """The best few that are predicted to be better than what stands.

        Args:
            trials: of optuna, at most.
            tell: how many were made.
        """
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=_SEED))
        scores: dict[tuple[tuple[str, Any], ...], float] = {}
        for number in range(trials):
            trial = study.ask()
            values = self._ask(trial)
            key = tuple(sorted(values.items()))
            if key not in scores:
                scores[key] = self._predict({**self._stands, **values}).score(self._reference)
            study.tell(trial, scores[key])
            tell(number + 1)
        found: dict[str, Found] = {}
        """By what is predicted: settings that are predicted to do the same are tried once."""
        for key, score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
            if score <= 1 or len(found) == count:
                break
            needed = self._needed(dict(key), score)
            found.setdefault(f"{needed.score:.6f}", needed)
        return list(found.values())

    def _needed(self, values: dict[str, Any], score: float) -> Found:
        """Without what may be left as it stands, because the score is no less then."""
        changes = {name: value for name, value in values.items() if value != self._stands[name]}
        for name in sorted(changes):
            fewer = {other: value for other, value in changes.items() if other != name}
            without = self._predict({**self._stands, **fewer}).score(self._reference)
            if without >= score:
                changes, score = fewer, without
        return Found(changes, score)

    def _ask(self, trial: Any) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if "window" in self._free:
            values["window"] = round(trial.suggest_float("window", 0.3, LONGEST_WINDOW, step=_STEP), 2)
        if "first_window" in self._free:
            values["first_window"] = round(trial.suggest_float("first_window", 0.15, 0.6, step=_STEP), 2)
        if "window_growth" in self._free:
            values["window_growth"] = round(trial.suggest_float("window_growth", 1.0, 2.0, step=0.1), 1)
        if "min_first_tokens" in self._free:
            most = max(LONGEST_MINIMUM, self._shortest)
            values["min_first_tokens"] = trial.suggest_int("min_first_tokens", self._shortest, most)
        return values

    def _predict(self, values: Mapping[str, Any]) -> Prediction:
        shape = WindowShape.of(replace(self._settings, **{name: values[name] for name in _SHAPE}))
        knobs = Knobs(shape, values["min_first_tokens"])
        return predict(self._texts, self._notation, self._costs, knobs, self._listeners)
