"""Text, plans and their costs."""

from __future__ import annotations

from benchmarks.breaks.mutation import Mutation

BREAKS = (
    Mutation(
        "classes-fold-case",
        "text/normalization/classes/tokens.py",
        "text, text.casefold(), start",
        "text, text, start",
        ("tests/text/normalization/test_forms.py",),
    ),
    Mutation(
        "the-cheapest-cover",
        "text/normalization/classes/cover.py",
        "costs[candidate.first] + candidate.cost) < cost",
        "costs[candidate.first] + candidate.cost) <= _LEFT_ALONE",
        ("tests/text/normalization/test_forms.py",),
    ),
    Mutation(
        "a-cue-decides-between-classes",
        "text/normalization/classes/times.py",
        "0.3 if cued else 0.6",
        "0.1",
        ("tests/supervisor/commands/test_read_command.py",),
    ),
    Mutation(
        "own-cut-marks-part",
        "frontend/planning/cuts.py",
        "        or unit.ends\n",
        "",
        ("tests/frontend/planning/test_delimiters.py",),
    ),
    Mutation(
        "own-cut-marks-are-planned-anew",
        "frontend/planning/costs.py",
        "            request.delimiters,\n",
        "",
        ("tests/frontend/planning/test_delimiters.py",),
    ),
    Mutation(
        "inflections-add-up",
        "shm/inflection.py",
        "volume=_bounded(self.volume + around.volume,",
        "volume=_bounded(self.volume,",
        ("tests/text/markup/test_inflections.py", "tests/frontend/scheduling/test_inflected_segments.py"),
    ),
    Mutation(
        "a-word-s-inflection",
        "text/units/segmentation.py",
        "inflection=word.inflection",
        "inflection=None",
        ("tests/text/markup/test_inflections.py",),
    ),
    Mutation(
        "the-way-to-pronounce-is-asked-for",
        "text/pipeline.py",
        "[PRONOUNCING.index(self._pronouncing) :]",
        "[0:]",
        ("tests/text/test_pipeline.py", "tests/frontend/http/test_phonemize.py"),
    ),
    Mutation(
        "an-unread-sentence",
        "text/pipeline.py",
        "        yield replace(read, end=ready, last=True)\n",
        "        pass\n",
        ("tests/supervisor/speaking/test_local_speech.py",),
    ),
    Mutation(
        "a-word-of-each-script-lost",
        "frontend/planning/planner.py",
        '"".join(unit.lead + unit.script for unit in units[1:])',
        '"".join(unit.lead + unit.script for unit in units[2:])',
        ("tests/supervisor/speaking/test_local_speech.py",),
    ),
    Mutation(
        "longest-segment",
        "frontend/planning/planner.py",
        "min(limits.max_tokens, notation.max_tokens)",
        "limits.max_tokens",
        ("tests/frontend/planning/test_planner.py",),
    ),
    Mutation(
        "paragraphs-part",
        "frontend/planning/planner.py",
        "if units[-1].cut is Cut.PARAGRAPH or units[-1].pause is not None:",
        "if False:",
        ("tests/frontend/planning/test_planner.py",),
    ),
    Mutation(
        "first-segment-alone-is-planned",
        "frontend/planning/planner.py",
        "                    cuts = cuts[:1]\n",
        "                    pass\n",
        ("tests/frontend/planning/test_planner.py",),
    ),
    Mutation(
        "word-places",
        "frontend/planning/planner.py",
        "start=word.start + position, end=word.end + position",
        "start=word.start, end=word.end",
        ("tests/frontend/planning/test_planner.py",),
    ),
    Mutation(
        "first-measurement-replaces-the-guess",
        "frontend/planning/costs.py",
        "            self._work.clear()\n",
        "            pass\n",
        ("tests/frontend/planning/test_costs.py",),
    ),
    Mutation(
        "crowded-times-are-corrected",
        "frontend/planning/costs.py",
        "if load >= _LONE:",
        "if False:",
        ("tests/frontend/planning/test_costs.py",),
    ),
    Mutation(
        "plans-settle-first",
        "frontend/planning/costs.py",
        " and self._lone >= _SETTLED:",
        ":",
        ("tests/frontend/planning/test_costs.py", "tests/frontend/scheduling/test_plan_profiles.py"),
    ),
    Mutation(
        "accounts-by-provider",
        "frontend/planning/costs.py",
        "engine.model_sha256 or engine.model, engine.provider)",
        "engine.model_sha256 or engine.model, '')",
        (
            "tests/frontend/planning",
            "tests/frontend/streams/test_several_links.py",
            "tests/frontend/streams/test_links_engines.py",
        ),
    ),
)
