"""What trials speak, in Kokoro's phonemes: what settings are chosen by, and what the choice is judged by.
In English, what servers are asked to speak."""

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

SENTENCE = (
    "When the last ferry had left, the harbour master walked along the empty quay, counted the boats that were moored "
    "there, and wrote their names into a long grey book."
)

PARAGRAPHS = (
    "The market opens at six, before the sun is over the roofs. By nine the best peaches are gone, and whoever comes "
    "later has to take what the others left.",
    "My neighbour repairs clocks that nobody else wants to touch. He listens to each of them for a while, as a doctor "
    "would, and only then reaches for his tools.",
    "It rained for eleven days, and the river took the lower path away. On the twelfth, children were fishing from the "
    "wall where the path had been.",
    "She read the letter twice on the stairs, once more in the kitchen, and then put it into the drawer with the "
    "others. Nobody ever asked her what was in it.",
)
"""A listener's each, in turn."""
