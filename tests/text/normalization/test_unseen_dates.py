"""Kinds of dates, weekdays and times that unseen English lines had."""

from itertools import product

import pytest
from num2words import num2words

from tests.text.normalization.test_unseen_kinds import said
from text.locales.tables import table


def test_a_day_no_month_can_be_comes_first_in_any_voice() -> None:
    assert said("ends 31/01") == said("ends 1/31") and said("due 25/12") == said("due 12/25")
    assert said("in 25/12 then") != said("in 12/25 then")


def test_a_road_ends_no_sentence_and_a_weekday_follows_a_time() -> None:
    assert "\n" not in said("He lives nr. I-5 there") and "Monday" in said("Done by 9 p.m. Mon.")


def test_days_share_their_month_and_times_their_day() -> None:
    for first, last in ((3, 4), (8, 19), (25, 26)):
        days = f"{num2words(first, to='ordinal')} and {num2words(last, to='ordinal')}"
        assert said(f"on {first} & {last} June") == f"on the {days} of June"
        assert said(f"On June {first} and {last}, we") == f"On June {days}, we"
        assert "people" in said(f"On June {first} and {last} people") != f"On June {days} people"
    for time, day in product(("0640", "6pm", "9 am"), ("Sat", "Sun", "Mon")):
        assert f"{day}" not in said(f"It lands {time} {day} so we wait").replace(f"{day}day", "").split()


def test_four_digits_are_a_time_after_its_words_and_in_a_span() -> None:
    assert said("It lands at 0640 here") == "It lands at oh six forty here"
    assert (
        said("open 0900-1730 daily")
        == said("open 0900 to 1730 daily")
        == "open oh nine hundred to seventeen thirty daily"
    )
    assert "oh" not in said("code 0317-8471") and "oh one" not in said("model 0123 here")


def test_short_weekdays_stand_beside_each_other_and_at_the_end() -> None:
    for short, day in (("Sat", "Saturday"), ("Sun", "Sunday"), ("Mon", "Monday"), ("Wed", "Wednesday")):
        assert said(f"open Fri & {short}: come") == f"open Friday and {day}: come"
        assert said(f"open {short} and Fri in May") == f"open {day} and Friday in May"
        assert said(f"as he said {short}.") == f"as he said {day}."
    assert said("The Sun and Moon shine.") == "The Sun and Moon shine."


def test_numbers_that_are_counted_are_no_seconds_and_a_clock_has_hours() -> None:
    assert said("7 9s and 2 8s here") == "7 9s and 2 8s here" and said("for 9s here") == "for nine seconds here"
    assert said("at 06:00 hrs or 17:30 hours") == "at oh six hundred hours or seventeen thirty hours"


def test_a_label_before_a_month_ends_no_sentence_and_stars_describe_a_noun() -> None:
    for label in ("exp.", "ed.", "est.", "vol."):
        assert "\n" not in said(f"The {label} May 2026 one")
    assert said("a 3★ hotel, rated 4★ by us") == "a 3 star hotel, rated 4 stars by us"


def test_a_span_of_pages_with_letters_and_a_military_time_with_z() -> None:
    assert said("on 514a–520a, 12a–c") == "on five fourteen A to five twenty A, twelve A to C"
    assert said("from 0630Z to 1400Z") == "from oh six thirty Zulu to fourteen hundred Zulu"
    assert (
        said("of $(0.12) each") == "of minus twelve cents each"
        and said("under § 1983") == "under section nineteen eighty-three"
    )


def test_two_spans_of_days_have_one_order() -> None:
    assert said("off 21/7-1/9 then") == "off July twenty-first to September first then"
    assert said("off 1/7-21/8 then") == "off July first to August twenty-first then"
    assert said("off 8/1-8/15 then") == "off August first to August fifteenth then"


def test_several_places_have_letters_and_a_weekday_may_be_counted() -> None:
    for place in ("Seats", "Rooms", "Gates", "Flats"):
        assert said(f"{place} 22A & 23B now") == f"{place} twenty-two A and twenty-three B now"
    for nth, short in (("1st", "Sun"), ("2nd", "Sat"), ("3rd", "Mon")):
        assert f"{short} " not in said(f"the {nth} {short} of Advent")
    assert said("lows of 13C.") == "lows of thirteen degrees Celsius." and "\n" not in said("the (ref. Q-209) one")


def test_a_letter_for_half_a_day_ends_a_span_on_a_weekday_and_one_mass_is_another() -> None:
    for day, full in (("Fri", "Friday"), ("Tu/Th", "Tuesday, Thursday"), ("Mon", "Monday")):
        assert said(f"on {day} 6-8p here") == f"on {full} six to eight p.m. here"
    assert "p.m." not in said("it is 6-8p each") and " per " not in said("use 500g/1lb beef")


def test_a_date_or_time_lacks_its_year_or_colon_and_two_hyphens_are_a_dash() -> None:
    for month, day in product(table("en", "calendar")["months"], (1, 9, 28)):
        dates = (f"{day}-{month[:3]}", f"{day}/{month[:3]}", f"{day}-{month}")
        assert {said(f"Back {date}, maybe.") for date in dates} == {said(f"Back {day} {month}, maybe.")}
        assert {said(f"Back {month[:3]}{sign}{day}") for sign in "-/"} == {said(f"Back {month} {day}.").rstrip(".")}
    for hours, minutes, half in product((1, 8, 11, 12), ("05", "30", "45"), ("AM", "pm", " PM", " a.m.")):
        assert said(f"until {hours}{minutes}{half} on it") == said(f"until {hours}:{minutes}{half} on it")
    for first, last in (("2:00", "4:00pm"), ("1990", "1995"), ("12", "15"), ("$5", "$9"), ("815AM", "1045AM")):
        assert said(f"It is {first}--{last} here.") == said(f"It is {first}–{last} here.")


@pytest.mark.parametrize(("short", "full"), [("sat", "Saturday"), ("sun", "Sunday"), ("mon", "Monday")])
def test_a_small_weekday_before_a_date_is_one(short: str, full: str) -> None:
    assert said(f"meet me {short} 12 oct ok").startswith(f"meet me {full} the twelfth of October")
    assert said(f"{short} may 5 is fine").startswith(f"{full} May fifth")
    assert said("he sat 12 hours in the sun 3 times") == "he sat 12 hours in the sun 3 times"
