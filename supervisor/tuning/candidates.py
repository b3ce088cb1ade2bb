"""What is tried in the first stage: one group of settings after the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

Changes = Mapping[str, Any]
"""Settings by name, in place of those that stand."""

Groups = Mapping[str, Sequence[Changes]]
"""Alternatives by what they are about, in the order in which they are tried."""

_MOST_SPLITS = 4
"""Ways of sharing out the cores that are tried at most."""


def groups(
    *,
    cores: int,
    models: Sequence[Path],
    providers: Sequence[str],
    fixed: Collection[str],
    defaults: Mapping[str, Any],
) -> Groups:
    """What is decisive comes first, since what comes later is tried with what was chosen before.

    A full product of these would be some hundred trials. Their effects are nearly independent: which kernels run
    (model, provider) scales everything; how cores are shared decides between soon and much; spinning and memory are a
    few percent on top of either.

    Args:
        cores: that one may use.
        models: files that may speak in place of the model.
        providers: beside the one that is used without being asked for, as `--provider` names them.
        fixed: names of settings that the user has given: nothing that touches one is tried.
        defaults: what stands where nothing is changed; it isn't tried again.
    """
    found: dict[str, list[Changes]] = {
        "model": [{"model": model} for model in models],
        "provider": [{"provider": provider} for provider in providers],
        "threads": [{"threads": threads, "concurrency": lanes} for threads, lanes in splits(cores)],
        "spinning": [{"spinning": not defaults["spinning"]}],
        "memory arena": [{"memory_arena": not defaults["memory_arena"]}],
        "memory pattern": [{"memory_pattern": not defaults["memory_pattern"]}],
    }
    free = {
        group: [changes for changes in alternatives if not changes.keys() & set(fixed)]
        for group, alternatives in found.items()
    }
    return {group: alternatives for group, alternatives in free.items() if alternatives}


def splits(cores: int) -> list[tuple[int, int]]:
    """Threads per inference and inferences side by side that use all the cores: from one thread each, to one lane.

    The default, which is none of them, gives a lone inference all cores and several one each.
    """
    threads = [1]
    while threads[-1] * 2 < cores:
        threads.append(threads[-1] * 2)
    threads = [*threads[: _MOST_SPLITS - 1], cores] if cores > 1 else []
    return [(each, max(1, cores // each)) for each in dict.fromkeys(threads)]
