"""A scheduler for a test, closed after it."""

from tests.frontend.desk import desk_with

desk = desk_with()
