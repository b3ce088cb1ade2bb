"""Groups of settings, as `--help` shows them: each setting belongs to one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import click

from supervisor.settings.composition import SETTINGS

GROUPS: dict[str, tuple[str, ...]] = {
    "Address and access": (
        "host",
        "port",
        "api_keys",
        "api_key_file",
        "allow_unauthenticated",
        "requests_per_minute",
        "cors_origins",
        "allowed_hosts",
        "offline",
    ),
    "Engine and model": (
        "engine",
        "model",
        "voices",
        "model_dir",
        "manifest",
        "mirror",
        "packaged_model",
        "cache_dir",
        "provider",
        "provider_options",
        "compile_timeout",
        "vocoder",
        "first_window",
        "window_growth",
        "window",
    ),
    "Use of the machine": (
        "tuned",
        "threads",
        "concurrency",
        "workers",
        "standby",
        "spin_duration",
        "graph_optimization",
        "memory_pattern",
        "memory_arena",
        "worker_cpus",
        "worker_nice",
        "worker_qos",
        "worker_max_rss",
        "worker_max_requests",
        "idle_unload",
    ),
    "Text": (
        "lexicon",
        "mixed_languages",
        "max_pause_seconds",
        "heading_pause_seconds",
        "item_pause_seconds",
        "paragraph_pause_seconds",
        "dash_pause_seconds",
        "ellipsis_pause_seconds",
        "parenthesis_pause_seconds",
        "quotation_pause_seconds",
        "min_first_tokens",
        "adapt_plans",
        "cost_profiles",
    ),
    "Answers": ("chunk_ms", "prime_silence", "max_clip_seconds", "rings", "ring_seconds", "play_buffer_ms"),
    "Protocols of other services": (
        "elevenlabs",
        "cartesia",
        "deepgram",
        "wyoming_port",
        "wyoming_host",
        "wyoming_blends",
        "wyoming_zeroconf",
    ),
    "Cache": ("cache_bytes", "disk_cache", "disk_cache_bytes", "disk_cache_ttl", "prewarm"),
    "Books": ("jobs_dir", "jobs_between", "max_jobs", "max_job_bytes", "max_jobs_bytes"),
    "Limits": (
        "max_streams",
        "max_input_characters",
        "max_body_bytes",
        "max_bodies_bytes",
        "max_connections",
        "header_timeout",
        "body_timeout",
        "keepalive_timeout",
        "write_timeout",
    ),
    "Restarts and shutdown": (
        "max_deaths",
        "death_window",
        "load_timeout",
        "hang_patience",
        "quarantine_seconds",
        "drain_timeout",
    ),
    "Logs and metrics": ("log_level", "log_format", "metrics_dir", "selfcheck_hours"),
}
"""Names of fields by group title. All other settings are rules of normalisation."""

NORMALIZATION = "Normalisation of text"


def grouped(settings: Collection[str]) -> dict[str, list[str]]:
    """The given settings by title, in the order of `GROUPS`; empty groups are left out."""
    known = {name for names in GROUPS.values() for name in names}
    found = {title: [name for name in names if name in settings] for title, names in GROUPS.items()}
    found[NORMALIZATION] = [name for name in settings if name not in known]
    return {title: names for title, names in found.items() if names}


def write_options(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """The options of a command's `--help`: its own first, then the settings by group."""
    parameters = {param.name: param for param in command.get_params(context)}
    settings = grouped([name for name in parameters if name in SETTINGS])
    own = [name for name in parameters if name not in SETTINGS]
    for title, names in ({"Options": own} | settings).items():
        _write_section(title, [parameters[name] for name in names], context, formatter)


def _write_section(
    title: str, parameters: Sequence[click.Parameter], context: click.Context, formatter: click.HelpFormatter
) -> None:
    options = (each for each in parameters if isinstance(each, click.Option))
    records = [record for each in options if (record := each.get_help_record(context))]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)
