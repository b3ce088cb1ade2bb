"""The report that `/status` answers, and the advice in it. Only monitoring and the front's start enter."""
