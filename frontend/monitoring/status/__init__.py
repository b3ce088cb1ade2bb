"""The parts of the report that `/status` answers, and its advice."""
