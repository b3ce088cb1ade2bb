"""Unit names by symbol, in the singular and the plural."""

from __future__ import annotations


def _regular(listed: str) -> dict[str, tuple[str, str]]:
    named = (line.partition(" ") for line in listed.strip().split("\n"))
    return {symbol: (name, f"{name}s") for symbol, _, name in named}


UNITS = _regular("""
nm nanometer
μm micrometer
µm micrometer
mm millimeter
cm centimeter
m meter
km kilometer
yd yard
mi mile
sqm square meter
ha hectare
ac acre
mg milligram
µg microgram
μg microgram
mcg microgram
g gram
kg kilogram
lb pound
lbs pound
oz ounce
ml milliliter
mL milliliter
cl centiliter
dl deciliter
dL deciliter
l liter
L liter
gal gallon
tsp teaspoon
tbsp tablespoon
ns nanosecond
µs microsecond
μs microsecond
ms millisecond
s second
sec second
secs second
min minute
mins minute
h hour
hr hour
hrs hour
yr year
yrs year
kB kilobyte
KB kilobyte
MB megabyte
GB gigabyte
TB terabyte
PB petabyte
KiB kibibyte
MiB mebibyte
GiB gibibyte
TiB tebibyte
kbit kilobit
Mbit megabit
Gbit gigabit
mAh milliamp hour
Ah amp hour
mA milliamp
W watt
mW milliwatt
kW kilowatt
MW megawatt
GW gigawatt
Wh watt hour
kWh kilowatt hour
MWh megawatt hour
GWh gigawatt hour
mV millivolt
V volt
kV kilovolt
Ω ohm
kΩ kiloohm
J joule
kJ kilojoule
MJ megajoule
cal calorie
kcal kilocalorie
N newton
kN kilonewton
Pa pascal
hPa hectopascal
kPa kilopascal
MPa megapascal
dB decibel
dBA decibel
px pixel
MP megapixel
mol mole
F farad
mF millifarad
µF microfarad
μF microfarad
nF nanofarad
pF picofarad
µA microamp
μA microamp
nA nanoamp
µV microvolt
μV microvolt
µW microwatt
μW microwatt
µL microliter
μL microliter
µl microliter
MΩ megaohm
mΩ milliohm
mSv millisievert
µSv microsievert
μSv microsievert
Bq becquerel
lm lumen
eV electronvolt
keV kiloelectronvolt
MeV megaelectronvolt
GeV gigaelectronvolt
atm atmosphere
rad radian
mmol millimole
kWp kilowatt peak
""") | {
    "mmHg": ("millimeter of mercury", "millimeters of mercury"),
    "bar": ("bar", "bar"),
    "mbar": ("millibar", "millibars"),
    "lx": ("lux", "lux"),
    "in": ("inch", "inches"),
    "ft": ("foot", "feet"),
    "sqft": ("square foot", "square feet"),
    "sq ft": ("square foot", "square feet"),
    "sq m": ("square meter", "square meters"),
    "sq km": ("square kilometer", "square kilometers"),
    "sq mi": ("square mile", "square miles"),
    "fl oz": ("fluid ounce", "fluid ounces"),
    "mph": ("mile per hour", "miles per hour"),
    "kph": ("kilometer per hour", "kilometers per hour"),
    "kmh": ("kilometer per hour", "kilometers per hour"),
    "mpg": ("mile per gallon", "miles per gallon"),
    "fps": ("frame per second", "frames per second"),
    "rpm": ("R.P.M", "R.P.M"),
    "RPM": ("R.P.M", "R.P.M"),
    "bpm": ("beat per minute", "beats per minute"),
    "wpm": ("word per minute", "words per minute"),
    "psi": ("P.S.I", "P.S.I"),
    "ft-lb": ("foot-pound", "foot-pounds"),
    "ft·lb": ("foot-pound", "foot-pounds"),
    "Nm": ("newton meter", "newton meters"),
    "dpi": ("D.P.I", "D.P.I"),
    "ppm": ("part per million", "parts per million"),
    "ppb": ("part per billion", "parts per billion"),
    "bps": ("bit per second", "bits per second"),
    "kbps": ("kilobit per second", "kilobits per second"),
    "Kbps": ("kilobit per second", "kilobits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
    "Tbps": ("terabit per second", "terabits per second"),
    "Hz": ("hertz", "hertz"),
    "kHz": ("kilohertz", "kilohertz"),
    "MHz": ("megahertz", "megahertz"),
    "GHz": ("gigahertz", "gigahertz"),
    "THz": ("terahertz", "terahertz"),
    "K": ("kelvin", "kelvin"),
    "°C": ("degree Celsius", "degrees Celsius"),
    "℃": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "℉": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°": ("degree", "degrees"),
    "º": ("degree", "degrees"),
    "%": ("percent", "percent"),
    "‰": ("per mille", "per mille"),
    "%p": ("percentage point", "percentage points"),
}

THINGS = (
    "adapter|bag|band|barrel|battery|beam|belt|blade|board|bolt|bottle|bullet|cable|camera|capacitor|card|chain|charger"
    "|cord|cube|diameter|disc|disk|drill|drive|engine|fence|film|filter|gap|glass|gun|hike|hole|hose|jar|ladder|lamp"
    "|laptop|layer|lens|line|marathon|monitor|motor|nail|needle|pack|package|panel|paper|pin|pipe|plank|plate|pole"
    "|radius|race|resistor|ribbon|rod|rope|run|screen|screw|sheet|slot|socket|steak|steel|strap|strip|supply|tape|tile"
    "|tube|tubing|wall|weight|wheel|wire"
)
"""Nouns that a measure without an article describes, so that its unit is singular: use 4 mm wire."""

ONLY_APART = frozenset(("K",))
"""Symbols that are units only after a space: 300 K is kelvin, 300K is three hundred thousand."""

ONLY_TOGETHER = frozenset(("s", "F"))
"""Symbols that are units only without a space before them; after a space they have too many other meanings."""

NEVER_APART = frozenset(("in", "MP"))
"""Symbols that are units after a space only with a full stop or another number (5 x 7 in)."""

SPOKEN_PER = {"s": "second", "sec": "second", "h": "hour", "hr": "hour", "min": "minute", "d": "day", "day": "day"} | {
    name: name for name in ("second", "hour", "minute", "week", "month", "year", "person", "capita", "user", "serving")
}
"""Names of units that follow a slash, besides those of `UNITS`."""


def spelled(name: str, british: bool) -> str:
    """Unit name in American or British spelling: `kilometers` or `kilometres`."""
    if british:
        for unit in ("meter", "liter"):
            name = name.replace(unit, f"{unit[:-2]}re")
    return name
