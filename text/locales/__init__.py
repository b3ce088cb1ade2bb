"""Words of languages that several rules need: names of months, abbreviations, units of currency."""
