"""Notations of games and sports, each piece, card and score of them."""

from itertools import product

from text.normalization.normalize import normalize
from text.normalization.settings import Normalization

PIECES = {"K": "king", "Q": "queen", "R": "rook", "B": "bishop", "N": "knight"}
RANKS = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten", "10": "ten", "7": "seven"}
SUITS = {"♠": "spades", "♥": "hearts", "♦": "diamonds", "♣": "clubs"}


def said(text: str) -> str:
    return normalize(text, "en-us", Normalization())


def test_a_move_of_any_piece_is_said() -> None:
    for (piece, name), file, takes, check in product(PIECES.items(), "abcdefgh", ("", "x"), ("", "+")):
        move = f"{name} {'takes ' * bool(takes)}{file.upper()} five{', check' * bool(check)}"
        written = f"{piece}{takes}{file}5{check}"
        assert said(f"The chess move {written} wins") == f"The chess move {move} wins"
        assert said(f"In chess 12.{written} wins") == f"In chess move twelve, {move} wins"


def test_a_card_is_named_with_its_suit_and_other_suits_are_left_out() -> None:
    for (rank, name), (sign, suit) in product(RANKS.items(), SUITS.items()):
        assert (
            said(f"He led {rank}{sign} first") == said(f"He led {sign}{rank} first") == f"He led {name} of {suit} first"
        )
        assert said(f"We {sign} this") == "We this"


def test_sets_are_told_apart_with_their_tie_breaks() -> None:
    for gap, dash in product((" ", ""), "-–"):
        told = said(f"Murray beat Ferrer 6{dash}7{gap}(5) 7{dash}6{gap}(10{dash}8) in Rome")
        assert (
            told.count("in the tie-break") == 2 and "six seven, five in" in told and "seven six, ten eight in" in told
        )
    assert said("She won the final in straight sets 6-4 6-2") == "She won the final in straight sets six four, six two"


def test_a_tyre_is_read_by_its_parts() -> None:
    loads = {"91": "ninety-one", "94": "ninety-four", "88": "eighty-eight"}
    for width, gap, (load, spoken), speed in product(("205", "225"), ("", " "), loads.items(), "HTVW"):
        told = said(f"New tyres {width}/55{gap}R16 {load}{speed}, fitted")
        assert told.endswith(f"five fifty-five R sixteen, {spoken} {speed}, fitted")
