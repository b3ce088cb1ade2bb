"""Nearest English sound for each sound that English lacks, for foreign names in English text."""

from __future__ import annotations


def _table(listed: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in listed.split())


_BOTH = _table(
    "r=ɹ ʁ=ɹ ʀ=ɹ ɽ=ɹ ɣ=ɡ c=k ɟ=ɡ q=k χ=h x=h ħ=h ɦ=h ç=h ʂ=ʃ ɕ=ʃ ʐ=ʒ ʑ=ʒ β=b ɸ=f ʋ=v ɱ=m ɲ=nj ɴ=ŋ ɭ=l ɫ=l ɬ=l ɳ=n "
    "ʈ=t ɖ=d ʎ=lj ʝ=j ɥ=w ʣ=dz ʦ=ts ʥ=ʤ ʨ=ʧ ø=ɜ œ=ɜ y=u ɯ=u ʉ=u ɤ=ə ɵ=ə ɘ=ə ɐ=ə ɨ=ɪ o=ɔ e=ɛ g=ɡ"
)
NEAREST = {
    "en-us": _BOTH | _table("a=ɑ ɒ=ɑ ɚ=əɹ ɝ=ɜɹ Q=O"),
    "en-gb": _BOTH | _table("ɚ=ə ɝ=ɜː ᵻ=ɪ T=t ɾ=t O=Q"),
}
"""Replacements of single phonemes by language, used after misaki's own map from espeak-ng's alphabet."""
