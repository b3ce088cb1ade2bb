"""The terms that all rooms of the front share: requests, errors, the speaker's interface."""
