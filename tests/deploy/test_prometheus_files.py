"""Alert rules, the dashboard and the autoscaler's formula: alerts and pods come when they should, all names exist."""

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import metrics_document
from benchmarks.simulation.autoscaler import SYNC, Autoscaler, quantity, replay
from benchmarks.simulation.demand_levels import DAY, MANIFEST, QUEUE, RATIO, RECORD, REFUSED, Level, metrics_of
from frontend.monitoring.metrics import Metrics
from frontend.monitoring.readings import GAUGES
from supervisor.processes.metrics import SupervisorMetrics
from supervisor.settings.supervisor import SupervisorSettings
from worker.loop.process import WorkerMetrics

ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
DASHBOARD = ROOT / "deploy" / "grafana" / "dashboard.json"

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is missing: install the Debian package prometheus"
)


def promtool(*arguments: object, folder: Path = ROOT) -> str:
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, cwd=folder, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_promtool
def test_prometheus_takes_the_alert_rules() -> None:
    assert "SUCCESS" in promtool("check", "rules", ALERTS)


@needs_promtool
def test_prometheus_takes_the_scrape_job(tmp_path: Path) -> None:
    for name in ("prometheus.yaml", "alerts.yaml"):
        shutil.copy(ALERTS.parent / name, tmp_path)
    promtool("check", "config", "--syntax-only", tmp_path / "prometheus.yaml")


@needs_promtool
def test_alerts_are_raised_when_they_should_be_and_not_otherwise(tmp_path: Path) -> None:
    shutil.copy(ALERTS, tmp_path)
    shutil.copy(Path(__file__).parent / "alerts_test.yaml", tmp_path)
    promtool("test", "rules", "alerts_test.yaml", folder=tmp_path)


def test_the_alert_on_restarts_names_the_limits_that_hold() -> None:
    rules = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
    (restarts,) = (rule for rule in rules if rule.get("alert") == "KokoroLiveRestarts")
    settings = SupervisorSettings()
    assert settings.max_deaths == 5
    assert f"five without progress over {settings.death_window:g} s" in restarts["annotations"]["description"]


def known() -> dict[str, set[str]]:
    """Every series that the processes' metrics can have, with its labels."""
    registries = (Metrics().registry, WorkerMetrics().registry, SupervisorMetrics(None).registry)
    counted = {name: metric for registry in registries for name, metric in registry._names_to_collectors.items()}
    read = {f"kokoro_live_{name}": {*labels} for name, (_, labels) in GAUGES.items()}
    return read | {
        name: {*metric._labelnames, *(["le"] if name.endswith("_bucket") else [])} for name, metric in counted.items()
    }


def expressions() -> Iterator[str]:
    for rule in yaml.safe_load((ALERTS.parent / "adapter.yaml").read_text())["rules"]["custom"]:
        yield rule["seriesQuery"]
    for trigger in yaml.safe_load((ROOT / "deploy/kubernetes/scaling-keda.yaml").read_text())["spec"]["triggers"]:
        yield trigger["metadata"]["query"]
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["expr"]
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def test_every_metric_named_is_one_that_the_server_has() -> None:
    named = {name for expression in expressions() for name in re.findall(r"kokoro_live_\w+", expression)}
    assert len(named) > 10
    assert named <= known().keys()


def test_every_label_asked_for_is_one_that_the_metric_has() -> None:
    series = known()
    for expression in expressions():
        for name, matchers in re.findall(r"(kokoro_live_\w+)\{([^}]*)\}", expression):
            labels = set(re.findall(r"(\w+)\s*(?:=|!=|=~|!~)", matchers)) - {"instance", "job", "namespace", "pod"}
            assert labels <= series[name], expression


def test_the_dashboard_is_one_that_grafana_can_import() -> None:
    dashboard: dict[str, Any] = json.loads(DASHBOARD.read_text())
    assert dashboard["uid"] and dashboard["title"] and dashboard["schemaVersion"] >= 39
    identifiers = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(identifiers)) == len(identifiers)
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, f"{panel['title']} lies over another"
        assert all(x < 24 for x, _ in cells)
        taken |= cells
        for target in panel["targets"]:
            assert target["datasource"]["uid"] == "${datasource}"


def test_what_an_autoscaler_decides_by_is_on_the_dashboard() -> None:
    shown = DASHBOARD.read_text()
    custom = yaml.safe_load((ALERTS.parent / "adapter.yaml").read_text())["rules"]["custom"]
    names = [re.findall(r"kokoro_live_\w+", rule["seriesQuery"])[0] for rule in custom]
    assert len(names) == 2 and all(name in shown for name in names)


@needs_promtool
def test_every_query_of_the_dashboard_is_promql(tmp_path: Path) -> None:
    """Grafana's variables are filled in as it would."""
    queries = [target["expr"] for panel in json.loads(DASHBOARD.read_text())["panels"] for target in panel["targets"]]
    filled = [query.replace("$__rate_interval", "5m").replace("$instance", ".*") for query in queries]
    rules = [{"record": f"panel:query:{number}", "expr": query} for number, query in enumerate(filled)]
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", file)


def test_the_document_of_metrics_is_what_its_command_writes() -> None:
    assert metrics_document.DOCUMENT.read_text() == metrics_document.document(), (
        "run python -m benchmarks.metrics_document"
    )


def test_the_document_has_every_metric_that_the_server_has() -> None:
    page = metrics_document.DOCUMENT.read_text()
    families = {re.sub(r"_(bucket|count|sum|created)$", "", name) for name in known()}
    missing = {name for name in families if f"`{name}`" not in page and f"`{name}_total`" not in page}
    assert not missing


LEVELS: list[Level] = json.loads(RECORD.read_text())["levels"]
END = DAY[-1][0] + 1200


def pods_at(history: list[tuple[float, int]], seconds: float) -> int:
    return [pods for since, pods in history if since <= seconds][-1]


@pytest.fixture
def scaler() -> Autoscaler:
    return Autoscaler.of(MANIFEST.read_text())


def test_the_manifest_scales_on_what_was_recorded(scaler: Autoscaler) -> None:
    assert scaler.targets == {RATIO: 0.7, REFUSED: 0.1}
    assert LEVELS[0][RATIO] == 0.0
    assert LEVELS[-1][RATIO] > 0.7, "the last level is more than one pod can serve"


def test_pods_come_with_the_listeners_and_go_after_them(scaler: Autoscaler) -> None:
    history = replay(scaler, END, metrics_of(LEVELS, DAY))
    quiet, busy, evening, night = (pods_at(history, seconds) for seconds in (599, 2399, 5399, END))
    assert quiet == 1
    assert busy == scaler.most
    assert evening < busy
    assert night == 1
    come = next(since for since, pods in history if pods > 1)
    assert 600 <= come <= 600 + 60 or 1200 <= come <= 1200 + 60, "within a minute of the listeners that need it"
    gone = next(since for since, pods in history if pods < busy and since > 3000)
    assert gone >= 3000 + scaler.down_window - SYNC, "listeners who come back within five minutes find their pod"


def test_pods_go_one_at_a_time(scaler: Autoscaler) -> None:
    history = replay(scaler, END, metrics_of(LEVELS, DAY))
    pods = [count for _, count in history]
    assert all(after >= before - 1 for before, after in itertools.pairwise(pods))


def test_a_queue_says_nothing_about_a_full_pod() -> None:
    """The depth of the queue, at the 16 segments a pod of an earlier manifest: a pod admits too few readers for it."""
    blind = Autoscaler(1, 4, {QUEUE: 16.0})
    history = replay(blind, END, metrics_of(LEVELS, DAY))
    assert history == [(0.0, 1)]


def steady(value: float) -> dict[str, float]:
    return {"m": value}


def test_the_formula_s_tolerance_window_and_policies() -> None:
    tolerant = Autoscaler(1, 10, {"m": 1.0})
    assert tolerant.decide(0, 4, steady(1.09)) == 4, "a tenth more is no reason"
    assert tolerant.decide(15, 4, steady(1.5)) == 6
    assert tolerant.decide(30, 6, steady(0.1)) == 6, "six were wanted within the last five minutes"
    assert tolerant.decide(400, 6, steady(0.1)) == 1
    limited = Autoscaler(1, 10, {"m": 1.0}, 0.0, ({"type": "Pods", "value": 1, "periodSeconds": 60},))
    assert limited.decide(0, 1, steady(9.0)) == 2
    assert limited.decide(15, 2, steady(9.0)) == 2, "one a minute"
    assert limited.decide(75, 2, steady(9.0)) == 3


def test_quantities_of_kubernetes() -> None:
    assert (quantity("700m"), quantity("16"), quantity(2)) == (0.7, 16.0, 2.0)
