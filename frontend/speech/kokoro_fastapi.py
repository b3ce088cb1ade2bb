"""The fields that Kokoro-FastAPI's requests have besides OpenAI's, so that its clients need no change."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from text.markup.meanings import MAX_RATE, MIN_RATE

MAX_VOLUME = 10.0

Rate = Annotated[float, Meta(ge=MIN_RATE, le=MAX_RATE)]
Volume = Annotated[float, Meta(ge=0.0, le=MAX_VOLUME)]


class VoiceAlias(msgspec.Struct):
    """A voice that a request gives a name and a pace of its own."""

    voice: Annotated[str, Meta(description="A voice or a blend.")]
    rate: Annotated[Rate | None, Meta(description="Its pace, times `speed`; 1 where it is left out.")] = None


VoiceAliases = Annotated[dict[str, str | VoiceAlias], Meta(max_length=64)]


class NormalizationOptions(msgspec.Struct):
    """Switches of normalisation for one request. `null` and absent switches leave the server's settings as they are."""

    normalize: Annotated[bool | None, Meta(description="`false`: the text is spoken as it is written.")] = None
    unit_normalization: Annotated[
        bool | None, Meta(description="`false`: measures (`5 km`) are passed on as they are written.")
    ] = None
    url_normalization: Annotated[
        bool | None,
        Meta(description="`false`, with `email_normalization`: web and mail addresses are passed on as written."),
    ] = None
    email_normalization: Annotated[bool | None, Meta(description="Works together with `url_normalization`.")] = None
    optional_pluralization_normalization: Annotated[bool | None, Meta(description="Taken and without effect.")] = None
    phone_normalization: Annotated[
        bool | None, Meta(description="`false`: telephone numbers are passed on as they are written.")
    ] = None
    caps_normalization: Annotated[bool | None, Meta(description="Taken and without effect.")] = None
    replace_remaining_symbols: Annotated[bool | None, Meta(description="Taken and without effect.")] = None
    remove_emoji: Annotated[bool | None, Meta(description="Taken and without effect: `--normalize-emoji` decides.")] = (
        None
    )


_RULES = {
    "unit_normalization": "units",
    "url_normalization": "web_addresses",
    "email_normalization": "web_addresses",
    "phone_normalization": "phones",
}
"""Rule that a switch turns off. Web and mail addresses are one rule: it stays on while either of them is wanted."""

_ALWAYS_ON = ("optional_pluralization_normalization", "caps_normalization", "replace_remaining_symbols", "remove_emoji")
"""Switches of which the server always does what true asks for, or what comes nearest to it."""


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


def options_without_effect(options: NormalizationOptions | None) -> list[str]:
    """The switches that are off and change nothing."""
    if options is None or options.normalize is False:
        return []
    off = [switch for switch in _ALWAYS_ON if getattr(options, switch) is False]
    addresses = [switch for switch in ("url_normalization", "email_normalization") if getattr(options, switch) is False]
    return [*off, *(addresses if len(addresses) == 1 else [])]
