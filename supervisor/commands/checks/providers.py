"""The check of execution providers: the available ones, the one taken, and the reasons against the others."""

from __future__ import annotations

from pathlib import Path

from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning, wrong

_OPTIONS = "Mend --provider-options, or leave them out."


def providers(circumstances: Circumstances) -> Finding:
    """The providers that onnxruntime offers, and the chain's choice for the model that would speak."""
    import onnxruntime

    from worker.acceleration.decision import decide_providers
    from worker.engine import EngineUnavailable, ProviderUnavailable
    from worker.models.choice import kokoro_files
    from worker.providers.options import BadOption

    settings = circumstances.settings.worker
    there = f"onnxruntime {onnxruntime.__version__} has {', '.join(onnxruntime.get_available_providers())}"
    if settings.engine == "espeak":
        return ok(f"{there}; espeak-ng needs none")
    try:
        model, _ = kokoro_files(settings)
    except EngineUnavailable:
        model = Path()  # reported by another check; without a model no trials are known
    try:
        decision = decide_providers(model, settings)
    except BadOption as error:
        return wrong(f"{there}. {error}", _OPTIONS)
    except ProviderUnavailable as error:
        return warning(
            f"{there}. The CPU speaks in place of {error}",
            "Install an onnxruntime with that provider, or leave --provider out.",
        )
    except EngineUnavailable as error:
        return wrong(f"{there}. {error}", "Mend the file, or name another with --model.")
    taken = decision.choice.assignment.provider
    notes = [
        f"{name} waits for its trial, which the server makes while the CPU speaks"
        for name in dict.fromkeys(decision.choice.untried)
    ]
    notes += [
        " ".join(filter(None, (name, dict(tried.generator.options).get("MLComputeUnits"))))
        + f": {verdict.reason} ({'taken' if tried == decision.choice.assignment else 'not taken'})"
        for name, tried, verdict in decision.verdicts
    ]
    return ok("; ".join([f"{there}; {taken} is taken, of the chain {', '.join(decision.chain)}", *notes]))
