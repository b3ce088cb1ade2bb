"""The fields that Kokoro-FastAPI's requests have besides OpenAI's, so that its clients need no change."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from frontend.serving.no_effect import no_effect_if
from shm.audio import FASTEST, SLOWEST

MAX_VOLUME = 10.0

Rate = Annotated[float, Meta(ge=SLOWEST, le=FASTEST)]
Volume = Annotated[float, Meta(ge=0.0, le=MAX_VOLUME)]


class VoiceAlias(msgspec.Struct):
    """A voice that a request gives a name and a pace of its own."""

    voice: Annotated[str, Meta(description="A voice or a blend.")]
    rate: Annotated[Rate | None, Meta(description="Its pace, times `speed`; 1 where it is left out.")] = None


VoiceAliases = Annotated[dict[str, str | VoiceAlias], Meta(max_length=64)]


def _asks_for_less(on: bool, options: NormalizationOptions) -> bool:
    return not on and options.normalize is not False


_ALWAYS_ON = no_effect_if(_asks_for_less, "Taken and without effect.")
"""A switch of which the server always does what true asks for, or what comes nearest to it."""


class NormalizationOptions(msgspec.Struct):
    """Switches of normalisation for one request. `null` and absent switches leave the server's settings as they are."""

    normalize: Annotated[bool | None, Meta(description="`false`: the text is spoken as it is written.")] = None
    unit_normalization: Annotated[
        bool | None, Meta(description="`false`: measures (`5 km`) are passed on as they are written.")
    ] = None
    url_normalization: Annotated[
        bool | None,
        no_effect_if(
            lambda on, options: not on and options.email_normalization is not False and options.normalize is not False,
            "`false`, with `email_normalization`: web and mail addresses are passed on as written.",
        ),
    ] = None
    email_normalization: Annotated[
        bool | None,
        no_effect_if(
            lambda on, options: not on and options.url_normalization is not False and options.normalize is not False,
            "Works together with `url_normalization`.",
        ),
    ] = None
    optional_pluralization_normalization: Annotated[bool | None, _ALWAYS_ON] = None
    phone_normalization: Annotated[
        bool | None, Meta(description="`false`: telephone numbers are passed on as they are written.")
    ] = None
    caps_normalization: Annotated[bool | None, _ALWAYS_ON] = None
    replace_remaining_symbols: Annotated[bool | None, _ALWAYS_ON] = None
    remove_emoji: Annotated[
        bool | None, no_effect_if(_asks_for_less, "Taken and without effect: `--normalize-emoji` decides.")
    ] = None


_RULES = {
    "unit_normalization": "units",
    "url_normalization": "web_addresses",
    "email_normalization": "web_addresses",
    "phone_normalization": "phones",
}
"""Rule that a switch turns off. Web and mail addresses are one rule: it stays on while either of them is wanted."""


def rules_off(options: NormalizationOptions | None, all_rules: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the settings whose rules the options turn off.

    Args:
        all_rules: the names of all rules' settings.
    """
    if options is None:
        return ()
    if options.normalize is False:
        return all_rules
    off = {rule for switch, rule in _RULES.items() if getattr(options, switch) is False}
    if options.url_normalization is not False or options.email_normalization is not False:
        off.discard("web_addresses")
    return tuple(sorted(off))
