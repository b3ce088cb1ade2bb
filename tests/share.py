"""How many of a long loop's cases a run takes: `SHARE=0.1` is a tenth of them, from the same seeds."""

import os

_SHARE = float(os.environ.get("SHARE", "1"))


def share(count: int) -> int:
    """The part of `count` that this run takes; at least one."""
    return max(round(_SHARE * count), 1)
