"""Tests with real clients. A package, so that its files share servers."""
