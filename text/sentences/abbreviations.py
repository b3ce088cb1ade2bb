"""Abbreviations, and words that begin sentences: one table for the rules that read abbreviations in full and for the
splitter, which keeps their full stops from ending sentences.

English tables have the spelling that is read. Other languages' abbreviations are in `Locale.abbreviations`. Word lists
are lower case, without their last full stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from text.locales.locale import LOCALES, MONTH_NAMES, pairs
from text.words.word import word_list

TITLES = pairs(
    "Mr=Mister;Mrs=Missus;Ms=Miz;Dr=Doctor;Drs=Doctors;Assoc=Associate;Asst=Assistant;Dir=Director;Prof=Professor;"
    "Gen=General;Col=Colonel;Lt=Lieutenant;Sgt=Sergeant;Capt=Captain;Cmdr=Commander;Cpl=Corporal;Pvt=Private;"
    "Maj=Major;Adm=Admiral;Gov=Governor;Sen=Senator;Rep=Representative;Pres=President;Rev=Reverend;Hon=Honorable;"
    "Fr=Father;Supt=Superintendent;Mt=Mount;Ft=Fort;Msgr=Monsignor;Amb=Ambassador;Det=Detective;Insp=Inspector;"
    "Ald=Alderman;Messrs=Messieurs"
)
"""Titles and the like, read before names."""

STREETS = pairs(
    "St=Street;Ave=Avenue;Blvd=Boulevard;Rd=Road;Ln=Lane;Dr=Drive;Hwy=Highway;Pl=Place;Sq=Square;Ct=Court;"
    "Pkwy=Parkway;Ter=Terrace;Cir=Circle;Fwy=Freeway;Expy=Expressway"
)
"""Parts of street names."""

ANYWHERE = pairs(
    "Jr=Junior;Sr=Senior;Inc=Incorporated;Ltd=Limited;Corp=Corporation;Bros=Brothers;dept=department;govt=government;"
    "approx=approximately;ea=each;vs=versus;incl=including;misc=miscellaneous;avg=average;assoc=association;"
    "feat=featuring;intl=international;natl=national;dist=district;mfg=manufacturing;mgr=manager;asst=assistant;"
    "viz=namely;cf=compare;resp=respectively"
)
"""Abbreviations read wherever they stand."""

LABELS = pairs(
    "no=number;nos=numbers;vol=volume;vols=volumes;p=page;pp=pages;pg=page;ch=chapter;sec=section;sect=section;"
    "fig=figure;figs=figures;eq=equation;art=article;para=paragraph;ed=edition;op=opus;apt=apartment;tel=telephone;"
    "rm=room;ca=circa;c=circa;est=established;min=minimum;max=maximum;pop=population;b=born;d=died;bldg=building;"
    "rte=route;hwy=highway;pkwy=parkway;ste=suite;qty=quantity;amt=amount;acct=account;ref=reference;msg=message;"
    "grp=group;div=division;wt=weight;ht=height;appx=appendix;encl=enclosure;exh=exhibit;sched=schedule;prob=problem;"
    "avg=average;dept=department"
)
"""Abbreviations read before numbers."""

PARTS = pairs(
    "Fig=Figure;Figs=Figures;Eq=Equation;Eqs=Equations;Eqn=Equation;Tab=Table;Sec=Section;Apt=Apartment;App=Appendix;"
    "Alg=Algorithm"
)
PLACES = pairs("Rm=Room;Ste=Suite;Rte=Route;Hwy=Highway;Bldg=Building")
"""Labels of numbers with letters (Fig. 3a, Rm. 12B)."""

BOOKS = pairs(
    "Gen=Genesis;Ex=Exodus;Exod=Exodus;Lev=Leviticus;Num=Numbers;Deut=Deuteronomy;Josh=Joshua;Judg=Judges;Sam=Samuel;"
    "Kgs=Kings;Chron=Chronicles;Ps=Psalm;Prov=Proverbs;Eccl=Ecclesiastes;Isa=Isaiah;Jer=Jeremiah;Ezek=Ezekiel;"
    "Dan=Daniel;Matt=Matthew;Rom=Romans;Cor=Corinthians;Gal=Galatians;Eph=Ephesians;Phil=Philippians;Col=Colossians;"
    "Thess=Thessalonians;Tim=Timothy;Heb=Hebrews;Jas=James;Pet=Peter;Rev=Revelation"
)
"""Books of the Bible."""

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

LAST_OR_NOT = word_list("etc usw usf sqq ff min max sec hr hrs ft in lb lbs oz approx est dept misc incl excl sq")
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


def _lower(*tables: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for table in tables for name in table)


BIBLE = _lower(BOOKS)
"""Bible books, whose full stop ends no sentence before a chapter and verse. "col." and "ex." are other words elsewhere,
so a number with a colon must follow.
"""

MONTHS = frozenset(name.lower() for name, full in MONTH_NAMES.items() if name != full)
_WORDS = word_list("sat sun wed mar mon ex rep rev ref app pl sq ct ter hr hon op fr ft est dist")
"""Abbreviations that are words or units in lower case."""

_NUMBERED = BEFORE_NUMBERS | MONTHS | _lower(TITLES, STREETS, ANYWHERE, LABELS, PARTS, PLACES)
_NAMED = SELDOM_LAST | _lower(TITLES, STREETS, ANYWHERE) | MONTHS

_ENDS = word_list("etc ecc uu c a.c d.c ud uds")
"""Abbreviations of other languages that may end a sentence before a name or a number."""

_INTERJECTIONS = word_list("hmm hm mmm shh sh psst pfft brr grr tsk zzz")
_CONSONANTS = re.compile("[BCDFGHJ-NP-TV-XZ][bcdfghj-np-tv-xz]{1,4}")


def before_number(word: str, language: str) -> bool:
    """True for an abbreviation that ends no sentence before a number."""
    lower = word.lower()
    if lower in BEFORE_NUMBERS or lower in read_in(language):
        return True
    return lower in _NUMBERED and (word[0].isupper() or lower not in _WORDS)


def before_name(word: str, language: str, after_number: bool) -> bool:
    """True for an abbreviation that ends no sentence before a name. Small letters after a number are a unit's."""
    lower = word.lower()
    if lower in read_in(language) or (lower in _NAMED and word[0].isupper()):
        return True
    known = lower in _NAMED and lower not in _WORDS | LAST_OR_NOT
    return not after_number and (known or (language == "en" and _is_unknown(word)))


def _is_unknown(word: str) -> bool:
    """True for a short English word without vowels (Bldg, Pkt), which must be an abbreviation; ssh and TV are names."""
    return _CONSONANTS.fullmatch(word) is not None and word.lower() not in _INTERJECTIONS


@lru_cache
def read_in(language: str) -> frozenset[str]:
    """Abbreviations that the rules of a language read, other than English, by the language code's first part."""
    written = LOCALES[language].abbreviations if language in LOCALES else ()
    return frozenset(name.split(" ")[-1].lower()[:-1] for name in written if name[-1] == ".") - _ENDS


@lru_cache
def short_months(language: str) -> frozenset[str]:
    """Beginnings of a language's months, of three or four letters."""
    months = LOCALES[language].months if language in LOCALES else ()
    return frozenset(month[:length] for month in months for length in (3, 4) if len(month) > length)
