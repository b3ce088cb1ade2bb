"""Cost accounts: each engine's fitted model, and the stored profile that plans are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from frontend.planning.costs import CostModel
from frontend.planning.profile import CostProfile, guess
from shm.engine_info import EngineInfo

_FOLLOWED = 4
"""Number of segments between two looks at the measurements: a look takes half a millisecond."""


class Account:
    """Cost account of one engine."""

    def __init__(
        self, engine: EngineInfo, adapts: bool = True, stored: Mapping[str, CostProfile] = MappingProxyType({})
    ) -> None:
        """
        Args:
            adapts: whether plans follow measurements.
            stored: profiles to start from, by `Account.label`.
        """
        self._adapts = adapts
        self._observed = 0
        self.label = f"{engine.name} {engine.model} {engine.provider}"
        self.costs = CostModel(engine.first_block)
        self.profile = replace(stored.get(self.label, guess(engine.first_block)), first_block=engine.first_block)
        self.costs.seed(self.profile)
        self.measured = False
        """True if at least one segment has been measured: until then the figures are a guess."""

    def observe(
        self, tokens: int, speed: float, samples: int, seconds: float, prosody_seconds: float, load: float
    ) -> None:
        """Learn from one segment; arguments as for `CostModel.observe`."""
        self.costs.observe(tokens, speed, samples, seconds, prosody_seconds, load)
        self.measured = True
        self._observed += 1
        if self._adapts and self._observed % _FOLLOWED == 0:
            self.profile = self.costs.stored(self.profile)


class Ledger:
    """Cost accounts by engine, model and provider."""

    def __init__(self, adapts: bool = True, stored: Mapping[str, CostProfile] = MappingProxyType({})) -> None:
        """
        Args:
            adapts: whether plans follow measurements.
            stored: profiles to start from, by `Account.label`.
        """
        self._adapts = adapts
        self._stored = stored
        self._accounts: dict[tuple[str, str, str], Account] = {}

    def of(self, engine: EngineInfo) -> Account:
        """The engine's account; a new one starts from a stored profile or a guess."""
        key = (engine.name, engine.model_sha256 or engine.model, engine.provider)
        if key not in self._accounts:
            self._accounts[key] = Account(engine, self._adapts, self._stored)
        return self._accounts[key]

    def by_engine(self) -> dict[str, Account]:
        """All accounts by label, for `/status`."""
        return {account.label: account for account in self._accounts.values()}
