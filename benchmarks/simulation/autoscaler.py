"""Kubernetes' horizontal autoscaler as a function of recorded metrics: when would pods come and go?

The formula is the documented one ("Horizontal Pod Autoscaling", section "Algorithm details", and the defaults of
`autoscaling/v2`): each metric wants ceil(pods x value / target) pods, unless value / target is within the tolerance;
the largest wish counts; a scale-down takes the largest wish of the stabilisation window; policies limit each step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

SYNC = 15.0
"""Seconds between two decisions (`--horizontal-pod-autoscaler-sync-period`)."""

TOLERANCE = 0.1
DOWN_WINDOW = 300.0
UP_POLICIES = (
    {"type": "Percent", "value": 100, "periodSeconds": 15},
    {"type": "Pods", "value": 4, "periodSeconds": 15},
)
DOWN_POLICIES = ({"type": "Percent", "value": 100, "periodSeconds": 15},)


@dataclass
class Autoscaler:
    """One autoscaler's state, from the first decision on."""

    least: int
    most: int
    targets: Mapping[str, float]
    """The wanted average over pods, by the metric's name."""
    down_window: float = DOWN_WINDOW
    up_policies: tuple[Mapping[str, Any], ...] = UP_POLICIES
    down_policies: tuple[Mapping[str, Any], ...] = DOWN_POLICIES
    _wishes: list[tuple[float, int]] = field(default_factory=list)
    _changes: list[tuple[float, int]] = field(default_factory=list)

    @classmethod
    def of(cls, document: str) -> Autoscaler:
        """The autoscaler that a manifest of `autoscaling/v2` describes."""
        spec = yaml.safe_load(document)["spec"]
        targets = {
            metric["pods"]["metric"]["name"]: quantity(metric["pods"]["target"]["averageValue"])
            for metric in spec["metrics"]
        }
        behavior = spec.get("behavior", {})
        up, down = behavior.get("scaleUp", {}), behavior.get("scaleDown", {})
        return cls(
            spec.get("minReplicas", 1),
            spec["maxReplicas"],
            targets,
            down.get("stabilizationWindowSeconds", DOWN_WINDOW),
            tuple(up.get("policies", UP_POLICIES)),
            tuple(down.get("policies", DOWN_POLICIES)),
        )

    def decide(self, now: float, pods: int, averages: Mapping[str, float]) -> int:
        """The number of pods from now on. `averages`: each metric's mean over the present pods."""
        wish = max(_wanted(pods, averages[name] / target) for name, target in self.targets.items())
        wish = min(max(wish, self.least), self.most)
        self._wishes = [(at, old) for at, old in self._wishes if at > now - self.down_window] + [(now, wish)]
        if wish < pods:
            wish = min(pods, max(old for _, old in self._wishes))
        wish = self._limited(now, pods, wish)
        if wish != pods:
            self._changes.append((now, wish - pods))
        return wish

    def _limited(self, now: float, pods: int, wish: int) -> int:
        if wish > pods:
            return min(wish, max(self._reach(now, pods, policy, 1) for policy in self.up_policies))
        return max(wish, min(self._reach(now, pods, policy, -1) for policy in self.down_policies))

    def _reach(self, now: float, pods: int, policy: Mapping[str, Any], sign: int) -> int:
        """The farthest that one policy lets the number go."""
        since = now - policy["periodSeconds"]
        before = pods - sum(change for at, change in self._changes if at > since and change * sign > 0)
        step = policy["value"] if policy["type"] == "Pods" else before * policy["value"] / 100
        return int(math.ceil(before + step) if sign > 0 else math.floor(before - step))


def _wanted(pods: int, ratio: float) -> int:
    return pods if abs(ratio - 1.0) <= TOLERANCE else math.ceil(pods * ratio)


def quantity(text: str | float) -> float:
    """A quantity of Kubernetes: `700m` is 0.7."""
    text = str(text)
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def replay(
    scaler: Autoscaler, seconds: float, averages: Callable[[float, int], Mapping[str, float]]
) -> list[tuple[float, int]]:
    """(seconds, pods) at the start and at each change. `averages` gives the metrics at a time with so many pods."""
    pods = scaler.least
    history = [(0.0, pods)]
    for step in range(1, math.floor(seconds / SYNC) + 1):
        now = step * SYNC
        decided = scaler.decide(now, pods, averages(now, pods))
        if decided != pods:
            pods = decided
            history.append((now, pods))
    return history
