"""Fields of measures and amounts of money."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """Number as it is written, ungrouped: 1250.75, .5."""

    number: str
    minus: bool = False
    grouped: bool = False

    @property
    def is_one(self) -> bool:
        return self.number == "1"


@dataclass(frozen=True, slots=True)
class Measure:
    """Number or two numbers with a unit; units by their symbols in the language's table."""

    first: Quantity
    unit: str
    last: Quantity | None = None
    by: bool = False
    """The two numbers are sides (5 x 7 cm), not a range."""
    power: str = ""
    per: str = ""
    per_power: str = ""
    singular: bool = False
    magnitude: str = ""
    """Word after the number: 24 billion km."""


@dataclass(frozen=True, slots=True)
class Coordinate:
    """Latitude, longitude or a direction of the compass; minutes and seconds are "" if they aren't written."""

    degrees: str
    minutes: str
    seconds: str
    way: str


@dataclass(frozen=True, slots=True)
class Sides:
    """Numbers with an x between them: 1920x1080; and the unit of each."""

    numbers: tuple[str, ...]
    unit: str = ""
    singular: bool = False


@dataclass(frozen=True, slots=True)
class Multiple:
    first: Quantity
    last: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Money:
    currency: str
    """Sign or code of the language's table."""
    country: str = ""
    """Country before a dollar sign: HK in HK$5."""
    first: Quantity = Quantity("0")
    magnitude: str = ""
    last: Quantity | None = None
    first_magnitude: str = ""
    per: str = ""
    plus: bool = False
    singular: bool = False
    tail: str = ""
    """What a hyphen joins to it: a night (a $100-a-night room)."""
