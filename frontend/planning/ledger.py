"""What each engine costs: its fitted model, and the stored profile that plans are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from frontend.planning.costs import CostModel
from frontend.planning.profile import Profile, guess
from shm.engine_info import EngineInfo

_FOLLOWED = 4
"""Segments after which plans may follow what was measured: looking takes half a millisecond."""


class Account:
    """One engine's."""

    def __init__(
        self, engine: EngineInfo, adapts: bool = True, stored: Mapping[str, Profile] = MappingProxyType({})
    ) -> None:
        """Args:
        adapts: plans follow what is measured.
        stored: profiles by engine (`Account.label`), to begin with.
        """
        self._adapts = adapts
        self._observed = 0
        self.label = f"{engine.name} {engine.model} {engine.provider}"
        self.costs = CostModel(engine.first_block)
        self.profile = replace(stored.get(self.label, guess(engine.first_block)), first_block=engine.first_block)
        self.costs.seed(self.profile)
        self.measured = False
        """At least one segment's time went into it: what it says is more than a guess."""

    def observe(
        self, tokens: int, speed: float, samples: int, seconds: float, prosody_seconds: float, load: float
    ) -> None:
        """See `CostModel.observe`."""
        self.costs.observe(tokens, speed, samples, seconds, prosody_seconds, load)
        self.measured = True
        self._observed += 1
        if self._adapts and self._observed % _FOLLOWED == 0:
            self.profile = self.costs.stored(self.profile)


class Ledger:
    """Accounts by engine, model and provider."""

    def __init__(self, adapts: bool = True, stored: Mapping[str, Profile] = MappingProxyType({})) -> None:
        """Args:
        adapts: plans follow what is measured.
        stored: profiles by engine (`Account.label`), to begin with.
        """
        self._adapts = adapts
        self._stored = stored
        self._accounts: dict[tuple[str, str, str], Account] = {}

    def of(self, engine: EngineInfo) -> Account:
        """That engine's account; a new one begins with a guess."""
        key = (engine.name, engine.model_sha256 or engine.model, engine.provider)
        if key not in self._accounts:
            self._accounts[key] = Account(engine, self._adapts, self._stored)
        return self._accounts[key]

    def by_engine(self) -> dict[str, Account]:
        """All of them, under a name for people."""
        return {account.label: account for account in self._accounts.values()}
