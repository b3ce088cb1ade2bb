"""Word lists for sentence splitting: abbreviations whose full stop ends no sentence, and words that begin sentences.

All entries are lower case, without their last full stop.
"""

from __future__ import annotations

from frontend.text.word_list import word_list

NEVER_LAST = word_list(
    "mr mrs messrs dr drs prof e.g eg i.e ie cf vs viz vgl z.b d.h u.a bzw bspw evtl ggf resp "
    "v mme mlle mgr assoc asst feat dir डॉ श्री श्रीमती प्रो पं"
)
"""Abbreviations that never end a sentence, whatever the next word is: titles, "for example" and the like."""

NEVER_LAST_IN = {
    "hi": word_list("रु rs मो मि.ली कि.मी कि.ग्रा से.मी ग्रा ई ई.पू सं क्र डा उ.प्र"),
    "es": word_list("s jj c.p d dn dña sr sra srta sres dra dr prof ee lic ing av avda a p.ej"),
    "fr": word_list("m mm me st ste av tél p.ex"),
    "it": word_list("c.a.p sig sigg sig.ra sig.na dott dott.ssa avv ing geom on p.es"),
    "pt": word_list("sr sra srta srs dr dra prof profa exmo exma d dra av eng séc adv rod p.ex"),
}
"""Abbreviations that never end a sentence in one language, by the language code's first part; other languages use the
same letters for other words.
"""

SELDOM_LAST = word_list(
    "adm ave blvd brig capt cmdr co col corp det dept dist esp est ex fr ft fwd gen gov hon hr inc insp jr lt ltd maj "
    "ms mt mtn mx natl op ph pres pt pvt rd rep rev sen sgt sr st supt univ uu ud uds vd "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun"
)
"""Abbreviations in names, dates and firms; their full stop ends a sentence only if a word of `SENTENCE_STARTERS`
follows.
"""

BEFORE_NUMBERS = word_list(
    "al no nos nr nro núm n vol vols p pp pg pág pag págs b d s c ca approx circa n° fig figs eq eqs tab pop apt "
    "apto v b sec sect ch chap cap art "
    "arts abs eq ed vers ver v ex tel ext op par § rev bd"
)
"""Abbreviations that never end a sentence if a number follows."""

BIBLE = word_list(
    "gen ex exod lev num deut josh judg ps prov eccl isa jer ezek dan matt rom cor gal eph phil col thess tim "
    "heb jas pet"
)
"""Bible books, whose full stop ends no sentence before a chapter and verse. "col." and "ex." are other words elsewhere,
so a number with a colon must follow.
"""

LAST_OR_NOT = word_list("etc usw usf ecc sqq ff min max sec hr hrs ft in lb lbs oz approx est dept misc incl excl sq")
"""Abbreviations that may end a sentence, unless the next word is in lower case, even with a writer who uses no
capitals.
"""

_ENGLISH = word_list(
    "the he she it they we you i i'm i've i'll it's he's she's this that these those there then but and so if when "
    "what who why how where my his her our their its after before however meanwhile yes not now did do does is "
    "are was were can could will would should have has had let"
)

SENTENCE_STARTERS = {
    "en": _ENGLISH,
    "es": word_list("el la los las un una unos en pero y no yo es se ella ellos esto eso su"),
    "fr": word_list("le la les un une des il elle ils elles on nous vous je ce cette ces mais et en dans c l"),
    "it": word_list("il lo la gli le un una ma e in non si questo questa egli lei loro io è"),
    "pt": word_list("o a os as um uma mas e ele ela eles elas em no na não isso este esta eu é"),
}
"""Words that begin sentences and are hardly ever names, by the language code's first part. Languages without an entry
use the English list.
"""

GERMAN_MONTHS = word_list("januar jänner februar märz april mai juni juli august september oktober november dezember")
GERMAN_ARTICLES = word_list("der das den dem des im vom zum zur beim seit")
"""Articles that show a German ordinal ("im 19. Jahrhundert"): such a text is German, even if it is read with a voice of
another language.
"""
