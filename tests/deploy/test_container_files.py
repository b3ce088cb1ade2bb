"""The container's, compose's and Kubernetes' files, against linters and schemas. Nothing of them is run here."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from frontend.settings.front import FrontSettings
from supervisor.settings.composition import KINDS
from supervisor.settings.options import variable

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"
YAML = sorted([*DEPLOY.rglob("*.yaml"), *Path(__file__).parent.glob("*.yaml")])
KUBERNETES_VERSION = "1.31"
OTHERS = {"keda.sh/v1alpha1"}
"""API versions of custom resources, whose schemas Kubernetes doesn't have."""


def passes(*command: object) -> None:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def tool(name: str) -> Path:
    """Programs that pip installed next to the interpreter."""
    return Path(sys.executable).parent / name


@pytest.mark.parametrize("dockerfile", sorted(DEPLOY.rglob("Dockerfile")), ids=lambda path: path.parent.name)
def test_hadolint_finds_nothing(dockerfile: Path) -> None:
    passes(tool("hadolint"), "--no-color", dockerfile)


def test_compose_has_its_schemas_shape() -> None:
    passes(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")


def test_yamllint_finds_nothing() -> None:
    rules = "{extends: default, rules: {line-length: {max: 130}, braces: {max-spaces-inside: 0}}}"
    passes(tool("yamllint"), "--strict", "-d", rules, *YAML)


def resources() -> Iterator[dict[str, Any]]:
    for file in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        yield from yaml.safe_load_all(file.read_text())


@pytest.mark.parametrize("resource", resources(), ids=lambda resource: resource["kind"])
def test_kubernetes_resources_have_their_schemas_shape(resource: dict[str, Any]) -> None:
    assert resource["metadata"]["name"].startswith("kokoro-live")
    if resource["apiVersion"] not in OTHERS:
        kubernetes_validate.validate(resource, KUBERNETES_VERSION, strict=True)


def deployment() -> dict[str, Any]:
    (found,) = [resource for resource in resources() if resource["kind"] == "Deployment"]
    return found["spec"]["template"]["spec"]


def test_kubernetes_asks_for_life_and_readiness_where_the_server_answers() -> None:
    (container,) = deployment()["containers"]
    assert container["livenessProbe"]["httpGet"]["path"] == "/health"
    assert container["readinessProbe"]["httpGet"]["path"] == "/ready"


def seconds(duration: str) -> float:
    return float(duration.removesuffix("s"))


def test_whoever_stops_it_waits_for_its_streams() -> None:
    drains = FrontSettings().drain_timeout
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert seconds(compose["services"]["kokoro-live"]["stop_grace_period"]) > drains
    assert deployment()["terminationGracePeriodSeconds"] > drains


def test_every_setting_in_the_files_is_one_that_the_server_has() -> None:
    known = {variable(name) for kind in KINDS for name in kind.__dataclass_fields__}
    files = [DOCKERFILE, DEPLOY / "compose.yaml", *(DEPLOY / "kubernetes").glob("*.yaml")]
    named = {name for file in files for name in re.findall(r"KOKORO_LIVE_[A-Z_]+", file.read_text())}
    assert {"KOKORO_LIVE_HOST", "KOKORO_LIVE_API_KEYS"} <= named
    assert named <= known


def test_the_image_gets_every_package_and_nothing_else() -> None:
    """.dockerignore lets through the files that the Dockerfile copies, and the wheel packs these folders."""
    admitted = {
        line[1:].rstrip("/") for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")
    }
    copied = {
        source.rstrip("/")
        for line in re.findall(r"^COPY (?!--from)(.*)", DOCKERFILE.read_text(), re.MULTILINE)
        for source in line.split()[:-1]
    }
    assert copied == admitted
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert copied >= {*packed["wheel"]["only-include"], *packed["sdist"]["only-include"]}


def test_the_image_doesnt_run_as_root() -> None:
    users = re.findall(r"^USER (\d+)", DOCKERFILE.read_text(), re.MULTILINE)
    assert users and users[-1] != "0"
    assert deployment()["securityContext"]["runAsUser"] == int(users[-1])
