"""Joins, deadlines, word times and the segment cache."""

from __future__ import annotations

from benchmarks.breaks.mutation import Mutation

BREAKS = (
    Mutation(
        "word-times-without-the-lead",
        "frontend/streams/word_times.py",
        "max(sample - own, 0)",
        "sample",
        ("tests/frontend/streams/test_word_times.py",),
    ),
    Mutation(
        "deadline-after-the-audio-before",
        "frontend/streams/timing.py",
        "+ (self._playback.position + self._segments.samples_before(segment)) / SAMPLE_RATE",
        "+ self._playback.position / SAMPLE_RATE",
        ("tests/frontend/streams/test_timing.py",),
    ),
    Mutation(
        "clock-stops",
        "frontend/streams/playback_clock.py",
        "self.since = max(self.since, _begun_to_have_heard(position))",
        "pass",
        ("tests/frontend/streams/test_playback_clock.py", "tests/frontend/streams/test_stream_meetings.py"),
    ),
    Mutation(
        "gap-moves-the-clock",
        "frontend/streams/playback_clock.py",
        "        self.since = now\n        return True",
        "        return True",
        ("tests/frontend/streams/test_playback_clock.py", "tests/frontend/scheduling/test_admission.py"),
    ),
    Mutation(
        "replanned-numbers",
        "frontend/streams/segment_queue.py",
        "self.replaced_at = self.numbered = replaced[0].index",
        "self.replaced_at = replaced[0].index",
        ("tests/frontend/scheduling/test_replanning.py",),
    ),
    Mutation(
        "sentence-pause",
        "frontend/streams/joins.py",
        "Cut.SENTENCE: 0.43",
        "Cut.SENTENCE: 0.0",
        ("tests/supervisor/client/test_local_speech.py",),
    ),
    Mutation(
        "a-joined-sample-lost",
        "frontend/streams/joins.py",
        "return [*before, *self._given(held[:sure])]",
        "return [*before, *self._given(held[: max(sure - 1, 0)])]",
        ("tests/supervisor/client/test_local_speech.py",),
    ),
    Mutation(
        "silence-that-stays-is-sent-at-once",
        "frontend/streams/joins.py",
        "sure = max(0, min(speech + stays, len(held) - FADE))",
        "sure = max(0, min(speech, len(held) - FADE))",
        ("tests/frontend/streams/test_playback.py",),
    ),
    Mutation(
        "fades",
        "frontend/streams/joins.py",
        "np.linspace(0, 1, FADE + 1, dtype=np.float32)[:-1]",
        "np.ones(FADE, dtype=np.float32)",
        ("tests/frontend/streams/test_joins.py",),
    ),
    Mutation(
        "soft-beginnings",
        "frontend/streams/joins.py",
        "LEAD = SAMPLE_RATE * 20 // 1000",
        "LEAD = 0",
        ("tests/frontend/streams/test_joins.py",),
    ),
    Mutation(
        "vowels-die-away",
        "frontend/streams/joins.py",
        "TRAIL = SAMPLE_RATE * 40 // 1000",
        "TRAIL = 0",
        ("tests/frontend/streams/test_joins.py",),
    ),
    Mutation(
        "cache-bound",
        "frontend/streams/cache/memory.py",
        "while self.bytes > self._max_bytes:",
        "while False:",
        ("tests/frontend/streams/cache",),
    ),
    Mutation(
        "least-recently-used",
        "frontend/streams/cache/memory.py",
        "self._segments.move_to_end(key)",
        "pass",
        ("tests/frontend/streams/cache",),
    ),
    Mutation(
        "cache-age",
        "frontend/streams/cache/disk.py",
        "if data is None or self._too_old(stored_at):",
        "if data is None:",
        ("tests/frontend/streams/cache",),
    ),
    Mutation(
        "nothing-is-unpickled",
        "frontend/streams/cache/disk.py",
        "if mode == diskcache.core.MODE_PICKLE:",
        "if False:",
        ("tests/frontend/streams/cache",),
    ),
    Mutation(
        "marks-are-wanted",
        "frontend/streams/cache/segments.py",
        "if found is not None and marks and not found.marks:",
        "if False:",
        ("tests/frontend/streams/cache", "tests/frontend/streams/test_stream_cache.py"),
    ),
)
