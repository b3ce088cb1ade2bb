"""The report that `/status` answers, and its advice. Only monitoring and the front's start import it."""
