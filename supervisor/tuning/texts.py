"""What trials speak, in Kokoro's phonemes: what settings are chosen by, and what the choice is judged by."""

from __future__ import annotations

from worker.kokoro import SAMPLE_SENTENCES

_CLAUSES, _QUESTION, _STATEMENT, _ASSENT, _SCENE, _PRICE = SAMPLE_SENTENCES

TRAINING = (_QUESTION, _CLAUSES, f"{_STATEMENT} {_ASSENT} {_SCENE}")
"""A phrase, a sentence, a paragraph."""

HOLDOUT = (
    "θˈæŋk ju, ðˈæt wʌz kˈInd.",
    "bəfˈɔɹ ðə tɹˈAn hæd stˈɑpt, ɐ bˈY ɪn ɐ ɹˈɛd kˈæp ˈOpᵊnd ðə dˈɔɹ ænd ʤˈʌmpt dˌWn ˈɑntˌu ðə plˈætfˌɔɹm.",
    "nˈObˌɑdi ˈænsəɹd ðə tˈɛləfˌOn ˌɔn mˈʌndˌA. ðə bˈAkəɹ, hˌu hæd klˈOzd ˈɜɹli, wʌz ˈWt ɪn ðə ɹˈAn wɪð hɪz dˈɔɡ; "
    "hɪz wˈIf hæd ɡɔn tə vˈɪzət hɜɹ sˈɪstəɹ. ˌɪt ɹˈæŋ ˌʌntˈɪl ði ˈivnɪŋ.",
)
"""Likewise; nothing is chosen by them."""

QUICK_TRAINING = (_PRICE,)
QUICK_HOLDOUT = ("wˌi ʃˌʊd lˈiv bəfˈɔɹ ðə ɹˈAn bəɡˈɪnz.",)
