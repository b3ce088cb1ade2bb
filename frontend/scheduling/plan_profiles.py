"""Cost profiles of planned texts: each text keeps the profile of its first plan while the measured costs change.

A profile follows the measurements, and a text that is planned with another profile is cut elsewhere: it would last
longer or shorter than before, and nothing of it would be found in the cache. So a text keeps the profile of its first
plan. If that profile is wrong by so much that a listener would run dry, the rest is planned again anyway
(`frontend.scheduling.replanning`).
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import msgspec

from frontend.contract.request import SpeechRequest
from frontend.planning.ledger import Account
from frontend.planning.profile import CostProfile

MOST_TEXTS = 10_000
"""Most texts that are remembered, at about 200 bytes each; the one requested longest ago is forgotten first."""


class PlanProfiles:
    """Profiles by engine and text; kept in memory, so they last as long as this front."""

    def __init__(self, most: int = MOST_TEXTS) -> None:
        self._most = most
        self._profiles: OrderedDict[bytes, CostProfile] = OrderedDict()

    def of(self, account: Account, request: SpeechRequest) -> CostProfile:
        """The profile for the request's plan: the profile of the same text's first plan, or the account's present
        one."""
        spoken = (
            account.label,
            request.text,
            request.turns,
            request.language,
            request.aliases,
            request.one_language,
            request.speed,
            request.markup,
            request.phonemes,
            request.rules_off,
        )
        key = hashlib.blake2b(msgspec.msgpack.encode(spoken), digest_size=16).digest()
        profile = self._profiles.setdefault(key, account.profile)
        self._profiles.move_to_end(key)
        if len(self._profiles) > self._most:
            self._profiles.popitem(last=False)
        return profile
