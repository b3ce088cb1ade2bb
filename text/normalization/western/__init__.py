"""Spanish, French, Italian and Portuguese."""
