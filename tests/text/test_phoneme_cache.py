"""The phoneme cache keeps what was asked for last, and never more than it may."""

import threading
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from text.g2p import Key, PhonemeCache, size_of
from text.words.segment import PhonemeSource, Word

_words = st.lists(
    st.builds(Word, st.text(max_size=20), st.text(max_size=40), st.sampled_from(PhonemeSource)), max_size=6
)
_keys = st.tuples(st.text(max_size=30), st.sampled_from(["en-us", "es"]), st.sampled_from(["1", "2"]))


def _entry(name: str, length: int = 4) -> tuple[Key, tuple[Word, ...]]:
    return (name, "en-us", "1"), (Word(name, "x" * length, PhonemeSource.LEXICON),)


@given(
    limit=st.integers(0, 5_000),
    steps=st.lists(st.tuples(_keys, st.one_of(st.none(), _words)), max_size=40),
)
def test_never_over_its_bound_and_never_another_answer(limit: int, steps: list[tuple[Key, list[Word] | None]]) -> None:
    cache = PhonemeCache(limit)
    latest: dict[Key, tuple[Word, ...]] = {}
    gets = 0
    for key, words in steps:
        if words is None:
            gets += 1
            found = cache.get(key)
            assert found is None or found == latest[key]
        else:
            latest[key] = tuple(words)
            cache.put(key, latest[key])
            fits = size_of(key, latest[key]) <= limit
            assert (cache.get(key) == latest[key]) if fits else (cache.get(key) is None)
            gets += 1
        assert 0 <= cache.bytes <= limit
    assert cache.hits + cache.misses == gets
    kept = [key for key in latest if cache.get(key) is not None]
    assert cache.bytes == sum(size_of(key, latest[key]) for key in kept)
    assert len(cache) == len(kept)


def test_the_least_recently_used_goes_first() -> None:
    a, b, c = _entry("a"), _entry("b"), _entry("c")
    cache = PhonemeCache(2 * size_of(*a))
    cache.put(*a)
    cache.put(*b)
    assert cache.get(a[0]) == a[1]
    cache.put(*c)
    assert [cache.get(entry[0]) is not None for entry in (a, b, c)] == [True, False, True]


def test_an_entry_over_the_bound_pushes_nothing_out() -> None:
    small, huge = _entry("small"), _entry("huge", 10_000)
    cache = PhonemeCache(5_000)
    cache.put(*small)
    cache.put(*huge)
    assert cache.get(small[0]) is not None
    assert cache.get(huge[0]) is None


def test_the_bytes_are_about_what_the_entries_take() -> None:
    cache = PhonemeCache(1 << 30)
    tracemalloc.start()
    try:
        for place in range(700):
            words = tuple(Word(f"word{place}{n}", f"wˈɜɹd{place}{n}", PhonemeSource.LEXICON) for n in range(12))
            cache.put((f"a sentence of some length {place} " * 2, "en-us", "1"), words)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.75 < cache.bytes / taken < 1.25


def test_threads_share_it() -> None:
    cache = PhonemeCache(20_000)

    def work(seed: int) -> None:
        for step in range(2_000):
            entry = _entry(str((step * 7 + seed) % 50))
            found = cache.get(entry[0])
            assert found is None or found == entry[1]
            cache.put(*entry)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.hits + cache.misses == 8_000
    assert 0 < cache.bytes <= 20_000
