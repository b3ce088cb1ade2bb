"""Kinds of items that unseen English lines had: abbreviations in no table, spans, sides, codes, words before emoji."""

import json
import re
import string
from itertools import product

import pytest
from num2words import num2words

from text.espeak import misaki
from text.locales.tables import table, word_list
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.sentences.abbreviations import ANYWHERE, SHRUNK, cut_words, shrunk_word

ABBREVIATIONS = table("en", "abbreviations")
CUT = f"{ABBREVIATIONS['cut']['stopped']} {ABBREVIATIONS['cut']['plain']}".split()
DICTIONARY = json.loads((misaki.english_data() / "us_gold.json").read_text(encoding="utf-8"))


def said(text: str, language: str = "en-us") -> str:
    return normalize(text, language, Normalization())


def test_a_beginning_of_a_word_that_is_no_word_is_read_and_ends_no_sentence() -> None:
    words = word_list(ABBREVIATIONS["contexts"]["words"])
    cuts = [
        (cut, full)
        for cut, full in cut_words("stopped").items()
        if ANYWHERE[cut] == full and cut not in {*words, "ref"}
    ]
    assert [cut for cut, full in cuts if said(f"so {cut}. blue") != f"so {full} blue"] == []
    longer = [cut for cut, full in cut_words("stopped").items() if f"{cut}|{full[len(cut) :]}" not in CUT]
    assert longer and [cut for cut in longer if cut in DICTIONARY] == []


def test_an_abbreviation_of_several_meanings_has_the_one_that_the_word_beside_it_shows() -> None:
    kinds = {"#": "5", "@": "Xylem"}
    rows = [
        (short, cue.removeprefix("<"), cue[0] == "<", full)
        for short, meanings in ABBREVIATIONS["senses"].items()
        for full, cues in meanings.items()
        for cue in cues.split()
    ]
    wrong = []
    for short, near, before, full in rows:
        word = kinds.get(near, near)
        text = f"So {word} {short}. there" if before else f"So {short}. {word} there"
        if f" {full.lower()}" not in said(text).lower() or ("\n" in said(text) and not before):
            wrong.append(text)
    assert wrong == []


def test_consonants_of_a_word_are_read_as_it_and_no_word_is_read_as_another() -> None:
    for word in ABBREVIATIONS["shrunk"]["words"].split():
        letters = word[0] + re.sub("[aeiou]", "", word[1:])
        if len(letters) > 4 and shrunk_word(letters) == word and letters not in ANYWHERE:
            assert said(f"so {letters} blue") == said(f"so {letters}. blue") == f"so {word} blue", letters
    words = [word for word in DICTIONARY if SHRUNK.fullmatch(word) and word.islower() and word not in ANYWHERE]
    assert len(words) > 200 and {word for word in words if shrunk_word(word)} == {"srsly"}
    assert not any(
        map(shrunk_word, word_list("http https html xml css dns ssh tls ssl ftp grpc kvm gps sms vms rss ssn"))
    )


def test_between_two_ends_is_and() -> None:
    for span in ("5-10", "$5-$10", "2–3 km", "1914–1918", "2:00–2:20"):
        assert " and " in said(f"between {span} then") and " to " not in said(f"between {span} then")
        assert " to " in said(f"of {span} then") and " to " in said(f"between {span} and 7")


def test_sides_written_in_different_ways_are_by_each_other() -> None:
    for first, second in product(("12'6\"", "8½", "6'", '9"'), ("10'9\"", "7'", "3½")):
        assert said(f"a {first} x {second} room").count(" by ") == 1


def test_a_letter_after_a_number_that_owns_something_is_no_magnitude() -> None:
    for letter in "BMKT":
        assert said(f"in 4{letter}'s kitchen") == f"in 4{letter}'s kitchen"


def test_a_count_of_things_in_a_list_and_a_multiple() -> None:
    for count, words in ((1, "one"), (2, "two"), (4, "four")):
        assert said(f"Ports: {count}x HDMI, {count}x screws") == f"Ports: {words} HDMI, {words} screws"
    assert said("It is 2x faster, 2x the size") == "It is two times faster, two times the size"


def test_an_improper_fraction_at_which_something_is_priced_is_odds() -> None:
    for above, below in ((7, 2), (11, 4), (9, 2)):
        words = f"{num2words(above)} to {num2words(below)}"
        assert said(f"went off at {above}/{below} and won") == f"went off at {words} and won"


def test_a_short_word_is_an_abbreviation_where_its_place_shows_it() -> None:
    for text in (
        "See q. 94, a. 2 there",
        "He ruled (r. 1643 to 1715) here",
        "See Cal. Civ. Code here",
        "OPEN MON.–FRI. EXCEPT US",
    ):
        assert "\n" not in said(text)
    for text in ("He was (so he said) fit. 5 came", "He saw Bob. Jane left"):
        assert "\n" in said(text)


def test_a_hash_glued_to_a_word_is_number() -> None:
    for written in ("MLS# 2046", "Bug#2046", "(bug#2046)", "(#2046)"):
        word = written.partition("#")[0]
        assert said(f"see {written} then").startswith(f"see {word}{' ' * word[-1:].isalpha()}number two thousand")
    assert "number" not in said("in C# 8 it is")


def test_a_span_of_two_units_has_both() -> None:
    for first, last in (("45 Hz", "20 kHz"), ("5 mm", "2 cm"), ("500 MB", "2 GB")):
        assert said(f"{first}–{last} here") == f"{said(first)} to {said(last)} here"


def test_a_prime_after_degrees_or_before_seconds_is_minutes() -> None:
    assert said("at −62° 40′ then") == "at minus sixty-two degrees forty minutes then"
    for seconds in ("03", "09", "25"):
        assert "foot" not in said(f"lasts 5'{seconds}\" long") and "five minutes" in said(f"lasts 5'{seconds}\" long")


def test_a_unit_of_which_there_is_one_is_read_in_full() -> None:
    for unit, name in (("gal", "gallon"), ("tbsp", "tablespoon"), ("oz", "ounce")):
        assert said(f"Use half a {unit}. of it") == said(f"Use half a {unit} of it") == f"Use half a {name} of it"


def test_a_label_that_is_no_word_is_read_without_its_number() -> None:
    for short, name in (("vol", "volume"), ("nos", "numbers"), ("wt", "weight"), ("chap", "chapter")):
        assert said(f"Its {short}. was {short}. enough") == f"Its {name} was {name} enough"


def test_millions_may_have_a_full_stop() -> None:
    for written, full in (("mil", "million"), ("bil", "billion"), ("bn", "billion")):
        assert said(f"Paid $1.5 {written}. in all") == f"Paid one point five {full} dollars in all"


def test_a_way_before_a_street_and_a_university_of_a_state() -> None:
    assert said("on W. Madison St. in it") == "on West Madison Street in it"
    assert said("when Ohio St. led it") == "when Ohio State led it" and "Street" in said("at 12 Ohio St. in it")


def test_a_share_of_a_minute_is_left_and_a_mile_takes_a_time() -> None:
    assert said("With 0:04 left") == "With four seconds left" and said("With 4:04 left") == "With four oh four left"
    assert said("a 7:45 mile") == "a seven forty-five mile"


def test_a_code_in_halves_is_said_digit_by_digit() -> None:
    for word in ("code is", "passcode:", "OTP"):
        assert said(f"Your {word} 773 092") == f"Your {word} seven seven three, zero nine two"


@pytest.mark.parametrize(
    "written", ["5 km", "7pm", "25%", "$4", "the mtg", "2nite", "w/ U.S.", "3:30", "#12", "10–12", "Dec. 3"]
)
def test_what_stands_before_an_emoji_is_read_as_without_it(written: str) -> None:
    assert said(f"It is {written} 🎉") == said(f"It is {written}") and said(f"It is {written} 🎉, so") == said(
        f"It is {written}, so"
    )


@pytest.mark.parametrize("language", ["en-us", "es", "fr-fr", "it", "pt-br"])
def test_what_an_emoji_touches_is_read_as_beside_a_space(language: str) -> None:
    for after in ("cats", "www.example.org", "25%", "me@example.org", "5 km"):
        for before in ("so", "so "):
            glued, apart = (said(f"{before}{gap}{after}", language=language) for gap in ("😀", " "))
            assert glued == apart


def test_a_number_with_a_minus_after_the_word_of_a_code_is_its_end() -> None:
    for word in ("acct", "account", "card no. of account", "Amex ending"):
        assert said(f"from {word} -7731 now").endswith("seven seven three one now")


def test_a_letter_of_the_compass_is_a_way_beside_words_of_a_position() -> None:
    for letter, way in (("N", "north"), ("S", "south"), ("E", "east"), ("W", "west")):
        assert said(f"latitude 34.05 {letter} then") == f"latitude thirty-four point zero five {way} then"


def test_a_ruler_before_a_bracket_is_the_first() -> None:
    assert said("Napoleon I (emperor)") == "Napoleon the first (emperor)"


def test_a_letter_that_may_be_a_unit_is_none_before_a_formula_or_beside_a_rank() -> None:
    for formula in ("NaOH", "HCl", "KOH"):
        assert "newton" not in said(f"with 1 N {formula} in it")
    assert "west" not in said("her 4th W of it") and "north" not in said("his 2nd N of it")
    assert "minor" in said("In C♯ min., by him") and "million" not in said("A 72M, s/p surgery, c/o pain")


def test_a_verse_may_have_a_part() -> None:
    for book, name in (("1 Cor.", "First Corinthians"), ("Lk", "Luke"), ("Psalm", "Psalm")):
        assert said(f"see {book} 13:4–8a here") == f"see {name} thirteen, four to eight A here"
        assert said(f"see {book} 13:4b here") == f"see {name} thirteen, four B here"


def test_a_unit_is_read_where_a_hyphen_joins_a_word_to_it() -> None:
    for unit, name in (("km", "kilometer"), ("V", "volt"), ("kg", "kilogram"), ("W", "watt")):
        assert said(f"a 60{unit}-rated one") == f"a sixty {name}-rated one"
    assert said("a 2L-bottle") == "a 2L-bottle" and said("a 3D-printed one") == "a 3D-printed one"


def test_amounts_for_several_units_and_spans_of_inches() -> None:
    assert said("it costs $0.24/100ml here") == "it costs twenty-four cents per one hundred milliliters here"
    assert said('a 38-40" chest') == "a thirty-eight to forty inch chest"
    assert said("12' x 14'6\" room") == "twelve feet by fourteen foot six room"


def test_numbers_after_a_sign_are_a_span_if_they_rise_and_a_code_else() -> None:
    assert said("do #5-11 now") == "do numbers five to eleven now" and "to" not in said("do #11-5 now").split()


def test_races_have_odds_and_times() -> None:
    assert said("The filly is 9/2 for the 3.40 at Ascot") == "The filly is nine to two for the three forty at Ascot"
    assert "halves" in said("It is 9/2 of it") and "point" in said("from the 3.40 to 3.55")


def test_a_span_may_have_fractions() -> None:
    for dash, (least, low), (most, high) in product(
        ("-", "–", " to "),
        (("1", "one"), ("1/2", "one half"), ("1½", "one and a half")),
        (("2 1/2", "two and a half"),),
    ):
        for unit, name in (("hrs", "hours"), ("cups", "cups"), ("in.", "inches")):
            assert said(f"about {least}{dash}{most} {unit} so") == f"about {low} to {high} {name} so"
    assert said("1/4-1/2 cup or 1-2 1/2-lb. roast") == "one quarter to half a cup or one to two and a half pound roast"
    assert "to" not in said("a 1/4-20 screw").split()


def test_a_slash_in_a_formula_divides_and_one_between_capitals_joins_letters() -> None:
    for above, below in (("n", "2"), ("π", "4"), ("2x", "3"), ("1", "n")):
        assert " over " in said(f"it is {above}/{below} then") and " over " in said(f"y = {above}/{below}")
    assert said("if y = a/b here") == "if y equals a over b here" and said("an A/B test") == "an A.B test"
    for written in ("f/8", "S/390", "conf.d/10-a", "PR c/107001", "16V/34R"):
        assert "over" not in said(f"see {written} then")
    assert said("x-1 = n-2, f(x)-1") == "x minus 1 equals n minus 2, f of x minus 1"
    assert said("e^(x+1) and e^(iπ)") == "e to the x plus one and e to the i pi"
    assert "times" in said("1/6 × 1/6 = 1/36") and said("a 2 × 3 design") == "a two by three design"


def test_each_greek_letter_by_itself_has_its_english_name() -> None:
    assert said("so sin θ is 7 % 2") == "so sine theta is 7 mod 2"
    names = ["alpha", "beta", "gamma", "eta", "theta", "mu", "nu", "tau", "phi", "chi"]
    assert [said(f"so {letter} is").split()[1] for letter in "αβγηθμντφχ"] == names
    assert said("η γυναίκα") == "η γυναίκα"


def test_numbers_of_programs_are_versions_and_statuses_have_an_oh() -> None:
    assert said("use python3.12 at f/2.8") == "use python three point twelve at F two point eight"
    assert (
        said("needs Python >=3.9,<3.13 now")
        == "needs Python at least three point nine,less than three point thirteen now"
    )
    assert said("an HTTP 404 error") == "an HTTP four oh four error" and said("404 of them") == "404 of them"
    assert said("at 0x1F80 now") == "at zero X one F eight zero now"
    assert said("see doi:10.1000/ab now") == "see D.O.I 10 dot 1000 slash ab now"
    assert said("clone git@b.com:a/c.git") == "clone git at b dot com colon a slash c dot git"


def test_an_open_plural_is_one_and_a_small_letter_between_capitals_is_spelled() -> None:
    assert said("the file(s) and class(es) of f(s), cos(s)") == "the files and classes of f of s, cos(s)"
    assert said("IgG, DoDs, TeX and NaN") == "I.G.G, D.O.D's, TeX and NaN"


def test_long_digits_without_a_word_are_a_code_unless_they_count() -> None:
    assert said("my acc is 12345678 now") == "my acc is one two three four five six seven eight now"
    assert said("all of 12345678 bytes") == "all of 12345678 bytes"
    assert said("built 20120825 here") == "built August twenty-fifth, twenty twelve here"


def test_an_abbreviation_alone_in_brackets_ends_no_sentence() -> None:
    for short in ("Hons.", "Ret.", "Mass."):
        assert "\n" not in said(f"He, John Low ({short}) Smith, came") and "\n" in said(f"He came ({short}) The end.")
    assert "\n" in said("It ended (finally.) Smith left.")


def test_capitals_after_a_number_or_before_one_are_no_small_letters_abbreviations() -> None:
    assert "mate" not in said("an M8 bolt") and "hours" not in said("with 31 HR in May") and "per" not in said("A2 s/s")
    assert (
        said("a table: W 210cm x D 92cm") == ("a table: W two hundred ten centimeters by D ninety-two centimeters")
        and said("worth c. €840m now") == "worth circa eight hundred forty million euros now"
    )


def test_a_given_name_and_a_unit_end_no_sentence_before_what_belongs_to_them() -> None:
    for short, name in (("Wm.", "William"), ("Jos.", "Joseph"), ("Saml.", "Samuel")):
        assert said(f"By {short} the Elder and {short} Orr") == f"By {name} the Elder and {name} Orr"
    for unit, name in (("oz.", "ounces"), ("lb.", "pounds"), ("mi.", "miles")):
        assert said(f"Some 12 {unit} (340 of it) here") == f"Some twelve {name} (340 of it) here"


def test_letters_that_are_a_unit_elsewhere_are_none_by_their_neighbours() -> None:
    assert "cup" not in said("Set the oven to 230 C.") and "basis" not in said("dated to 12,350 ± 60 BP")
    assert said("landed at 1845L then") == "landed at eighteen forty-five local then"
    assert said("a UH-60, on US-101") == "a U.H-60, on US-101"
    assert said("Fe2+ and the NAV/share") == "F.E two plus and the NAV per share"
    assert (
        said("so sin x = |x| in 2016/679")
        == "so sine x equals the absolute value of x in twenty sixteen, six hundred seventy-nine"
    )


def test_an_arrow_is_a_pause_between_steps_and_parts_of_a_menu() -> None:
    for word in table("en", "maths")["paths"]["words"].split():
        assert said(f"{word} one → Two -> three") == f"{word} one, Two, three"
    assert said("Oslo → Rome") == "Oslo to Rome" and said("select 3 → 4") == "select 3 to 4"


def test_an_item_that_is_glued_to_its_label_is_read() -> None:
    items = {
        "30cm": "thirty centimeters",
        "£5": "five pounds",
        "10-12%": "ten to twelve percent",
        "¾ cup": "three quarters of a cup",
    }
    for label, (item, words) in product(("Height", "Price", "Add"), items.items()):
        assert said(f"{label}:{item}") == f"{label}:{words}"


def test_what_stands_beside_an_item_decides_its_class() -> None:
    lines = {
        "Keep at 10-15C (50-60F).": "Keep at ten to fifteen degrees Celsius (fifty to sixty degrees Fahrenheit).",
        "It is in St. Paul, MN following the talk.": "It is in Saint Paul, Minnesota following the talk.",
        "John Roe, MD said so.": "John Roe, MD said so.",
        "A jug, c.1887-1900.": "A jug, circa eighteen eighty-seven to nineteen hundred.",
        "A count of 4 cells/μl.": "A count of 4 cells per microliter.",
        "Week 3 - 15 March": "Week 3, the fifteenth of March",
        "IPC class: B23C 5/24": "IPC class: B23C five slash twenty-four",
    }
    assert {line: said(line) for line in lines} == lines


@pytest.mark.parametrize(("language", "lang"), [("en-us", "en"), ("es", "es"), ("fr-fr", "fr"), ("it", "it")])
def test_the_numerals_of_a_list_are_numbers(language: str, lang: str) -> None:
    for numeral, value in {"ii": 2, "iii": 3, "iv": 4, "vi": 6, "vii": 7, "viii": 8, "ix": 9}.items():
        for form in ("({}) Anna", "{}) Anna", "{}. Anna", "({}) Anna", "Anna ({}) Anna"):
            written = form.format(numeral)
            assert said(written, language) == form.format(num2words(value, lang=lang)), written
        assert said(f"{numeral.upper()}. Anna", language) == f"{num2words(value, lang=lang)}. Anna"
    assert said("(i) Anna, (ii) Ben", language).startswith(f"({num2words(1, lang=lang)}) Anna")


@pytest.mark.parametrize(
    "stamp", ["2024-03-01 12:00:0{},123 INFO", "[12:00:0{}] app:", "Mar 1 12:00:0{} host x[12]:", "10.0.0.{} -"]
)
def test_each_line_of_a_log_is_a_sentence(stamp: str) -> None:
    text = "\n".join(f"{stamp.format(line)} the disk of this machine is nearly full, clean it" for line in (1, 2, 3))
    assert said(text).count("\n") == 2


def test_a_short_form_that_is_a_word_is_read_in_full_where_its_stop_ends_no_sentence() -> None:
    words = word_list(ABBREVIATIONS["contexts"]["words"]) - {*ABBREVIATIONS["senses"], *ABBREVIATIONS["titles"]}
    cuts = {cut: full for cut, full in cut_words("stopped").items() if cut in words and ANYWHERE[cut] == full}
    assert len(cuts) > 60
    assert [cut for cut, full in cuts.items() if said(f"We saw the {cut}. there.") != f"We saw the {full} there."] == []
    assert [cut for cut in cuts if said(f"We saw the {cut}.") != f"We saw the {cut}."] == []


def test_initials_of_a_name_are_letters_whatever_else_they_abbreviate() -> None:
    letters = list(product(string.ascii_uppercase, repeat=2))
    texts = ["Then {}. {}. Harlow spoke.", "by Harlow, {}. {}. (say)", "Ask {}.{}. Harlow.", "Rev. {}. {}. Harlow went"]
    named = [text.format(*each) for text in texts for each in letters]
    wrong = [text for text in named if said(text).replace(" ", "") != text.replace("Rev.", "Reverend").replace(" ", "")]
    assert len(wrong) <= 4, wrong  # e.g., i.e., a law journal and a State


def test_a_word_that_an_apostrophe_shortens_may_end_a_sentence() -> None:
    rows = [row for row in table("en", "forms")["anywhere"] if re.fullmatch(r"[a-z]+'[a-z]", row)]
    assert len(rows) > 80
    for row in rows:
        assert said(f"It is {row}. John left.").count("\n") == 1, row


def test_two_abbreviations_with_a_slash_are_both_read_and_a_path_is_not() -> None:
    assert said("so 5 hrs/wk and wknds/hols") == "so five hours per week and weekends/holidays"
    plain = [short for short, full in ABBREVIATIONS["plain"].items() if short.isalpha() and full.isalpha()]
    for one, two in zip(plain[-200::2], plain[-199::2], strict=True):
        full = [ABBREVIATIONS["plain"][each] for each in (one, two)]
        assert said(f"so {one}/{two}, then") in (
            "/".join(full).join(("so ", ", then")),
            f"so {full[0]} per {full[1]}, then",
        )
        assert full[0] not in said(f"so {one}/{two}/{one} then")


def test_a_common_word_with_a_capital_begins_a_sentence_after_an_abbreviation_in_small_letters() -> None:
    plain = [
        short for short in (*ABBREVIATIONS["plain"], *ABBREVIATIONS["anywhere"]) if re.fullmatch("[a-z]{2,}", short)
    ]
    for word in ("Plan", "Limit", "Call", "Enjoy"):
        assert sum("\n" not in said(f"We saw it {short}. {word} it now.") for short in plain) < len(plain) / 20
    assert "\n" not in said("It is the U.S. Open at St. Mark Natl. Park in Bldg. Three of the Dept. Store.")
