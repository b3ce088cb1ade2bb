"""The worker: its work loop, engines, models and accelerators."""

from __future__ import annotations

from benchmarks.breaks.mutation import Mutation

BREAKS = (
    Mutation(
        "generation-of-an-order",
        "worker/workbench.py",
        "if order.generation != self._generation:",
        "if False:",
        ("tests/worker/test_workbench.py",),
    ),
    Mutation(
        "nothing-for-the-forgotten",
        "worker/workbench.py",
        "        if segment.forgotten:\n",
        "        if False:\n",
        ("tests/worker/test_workbench.py",),
    ),
    Mutation(
        "ring-wait",
        "worker/stream_output.py",
        "while segment.unwritten and self.ring.room:",
        "while segment.unwritten:",
        ("tests/worker/test_workbench.py",),
    ),
    Mutation(
        "arena-given-back",
        "worker/workbench.py",
        "            self._arena = None  # gives its memory back, and a descriptor\n",
        "",
        ("tests/chaos/test_kill_points.py", "-k", "parsed-1"),
    ),
    Mutation(
        "progress-is-told",
        "worker/channel.py",
        "                self._host.sealed()\n",
        "                pass\n",
        ("tests/chaos/test_restart_intensity.py", "-k", "at_once and worker"),
    ),
    Mutation(
        "accelerator-gate",
        "worker/trials/judge.py",
        "ENOUGH_SNR = 35.0",
        "ENOUGH_SNR = 5.0",
        ("tests/worker/trials/test_judge.py",),
    ),
    Mutation(
        "nothing-ran-there",
        "worker/trials/judge.py",
        "elif not nodes:",
        "elif False:",
        ("tests/worker/trials/test_judge.py",),
    ),
    Mutation(
        "paired-rounds",
        "worker/trials/judge.py",
        "statistics.median(cpu / other for cpu, other in pairs)",
        "statistics.mean(measured.cpu_seconds) / statistics.mean(o for _, o in pairs)",
        ("tests/worker/trials/test_judge.py",),
    ),
    Mutation(
        "loud-samples",
        "worker/pcm.py",
        "np.clip(audio.astype(np.float32), -1, 1)",
        "audio.astype(np.float32)",
        ("tests/worker/test_pcm.py",),
    ),
    Mutation(
        "samples-that-are-no-numbers",
        "worker/pcm.py",
        "if not np.isfinite(audio).all():",
        "if False:",
        ("tests/worker/test_pcm.py", "tests/worker/test_kokoro.py"),
    ),
    Mutation(
        "a-named-model-or-none",
        "worker/select.py",
        'if settings.engine == "kokoro" or settings.model is not None:',
        'if settings.engine == "kokoro":',
        ("tests/worker/test_select.py",),
    ),
    Mutation(
        "unwanted-runs-are-cancelled",
        "worker/workbench.py",
        "            if segment in self._in_inference:\n                segment.cancellation.set()\n",
        "            if segment in self._in_inference:\n                pass\n",
        ("tests/worker/test_cancelled_segments.py",),
    ),
    Mutation(
        "nearest-deadline-in-the-worker",
        "worker/workbench.py",
        "min(self._workable(), key=lambda s: s.deadline, default=None)",
        "max(self._workable(), key=lambda s: s.deadline, default=None)",
        ("tests/worker/test_workbench.py",),
    ),
    Mutation(
        "whole-models-only",
        "worker/models/assembly.py",
        "return file.is_of(cached_sha256_of(path))",
        "return path.exists()",
        ("tests/worker/models/test_assembly.py",),
    ),
    Mutation(
        "no-log-in-pages",
        "worker/models/download.py",
        'if response.content_type == "text/html":',
        "if False:",
        ("tests/worker/models/test_fetch.py", "tests/worker/models/test_fetch_interrupted.py"),
    ),
    Mutation(
        "no-mixture-of-versions",
        "worker/models/download.py",
        "        part.empty()\n        return response.content_length",
        "        return response.content_length",
        ("tests/worker/models/test_fetch.py", "tests/worker/models/test_fetch_interrupted.py"),
    ),
    Mutation(
        "changed-files-are-hashed-again",
        "worker/models/checksum_cache.py",
        "if entry and (entry.size, entry.modified_ns, entry.inode) == (stat.st_size, stat.st_mtime_ns, stat.st_ino):",
        "if entry and entry.size == stat.st_size:",
        ("tests/worker/models",),
    ),
)
