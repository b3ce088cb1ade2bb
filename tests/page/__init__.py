"""Tests of the page for people. A package, so that its files share one server."""
