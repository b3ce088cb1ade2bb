"""The choice of execution providers for this machine, by the verdicts of earlier trials."""
