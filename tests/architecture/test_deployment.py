"""The files of deploy/ name one version, agree with each other and hold no secret."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.exchange.services.imports import MAX_BYTES
from labelhub.core.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())
OURS = ("secrets", "migrate", "server", "worker")


def manifests() -> list[Any]:
    """Every Kubernetes object."""
    files = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    return [found for file in files for found in yaml.safe_load_all(file.read_text())]


def containers() -> list[Any]:
    """Of every deployment, with those that prepare it."""
    pods = [
        found["spec"]["template"]["spec"] for found in manifests() if found["kind"] == "Deployment"
    ]
    return [part for pod in pods for part in (*pod.get("initContainers", []), *pod["containers"])]


def test_image_and_manifests_name_this_version() -> None:
    (kustomization,) = [found for found in manifests() if found["kind"] == "Kustomization"]
    assert kustomization["images"][0]["newTag"] == VERSION
    assert COMPOSE["services"]["server"]["image"] == f"${{LABELHUB_IMAGE:-labelhub:{VERSION}}}"


def test_every_service_runs_on_a_read_only_root_without_privileges() -> None:
    for name in OURS:
        service = COMPOSE["services"][name]
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
        assert service["security_opt"] == ["no-new-privileges:true"]
    for container in containers():
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"], container["name"]
        assert not context["allowPrivilegeEscalation"]
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER 10001:10001$", dockerfile, re.MULTILINE)


def test_workers_show_their_metrics_where_prometheus_can_reach_them() -> None:
    environment = COMPOSE["services"]["worker"]["environment"]
    assert COMPOSE["services"]["server"]["environment"].items() <= environment.items()
    (pod,) = [found for found in containers() if found["name"] == "worker"]
    (port,) = [found["containerPort"] for found in pod["ports"] if found["name"] == "metrics"]
    given = {found["name"]: found["value"] for found in pod["env"]}
    named = given["LABELHUB_WORKER_METRICS"]
    assert named == environment["LABELHUB_WORKER_METRICS"] == f"0.0.0.0:{port}"


def test_the_image_has_the_programs_of_the_database_that_compose_starts() -> None:
    """``pg_dump`` refuses a newer server; Debian 13 has version 17."""
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert "install --yes --no-install-recommends postgresql-client" in dockerfile
    assert set(re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)) == {
        "python:${PYTHON}-slim-trixie"
    }
    assert COMPOSE["services"]["postgres"]["image"] == "postgres:17"


def test_what_the_image_copies_is_what_the_context_has() -> None:
    copied = re.findall(
        r"^COPY (?!--from)(.+) /src", (ROOT / "Dockerfile").read_text(), re.MULTILINE
    )
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in lines if line.startswith("!")}
    assert {name for line in copied for name in line.split()} == allowed
    assert all((ROOT / name).exists() for name in allowed)


def test_no_service_starts_before_what_it_needs() -> None:
    services = COMPOSE["services"]
    for name, service in services.items():
        for other, wanted in service.get("depends_on", {}).items():
            checked = "healthcheck" in services[other] or other == "server"  # the image's own
            if wanted["condition"] == "service_healthy":
                assert checked, (name, other)
            else:
                assert services[other]["restart"] == "no", (name, other)


def test_every_service_that_stays_can_be_waited_for() -> None:
    """``up --wait`` ends with an error at the first running one whose health check is disabled."""
    for name, service in COMPOSE["services"].items():
        disabled = service.get("healthcheck", {}).get("disable", False)
        assert disabled == (service["restart"] == "no"), name


@pytest.mark.parametrize(
    ("file", "pattern", "unit"),
    [
        ("proxies/nginx.conf", r"client_max_body_size (\d+)g;", 1024**3),
        ("proxies/Caddyfile", r"max_size (\d+)GB", 1000**3),
        ("kubernetes/ingress.yaml", r"proxy-body-size: (\d+)g", 1024**3),
    ],
)
def test_proxies_let_the_largest_import_through(file: str, pattern: str, unit: int) -> None:
    found = re.search(pattern, (DEPLOY / file).read_text())
    assert found
    assert MAX_BYTES < int(found[1]) * unit < 1.2 * MAX_BYTES


def test_secrets_are_written_once_for_their_owner_alone(tmp_path: Path) -> None:
    command = [sys.executable, str(DEPLOY / "compose/make_secrets.py"), str(tmp_path)]
    subprocess.run(command, check=True, umask=0)
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    names = {"secret-key", "text-keys", "metrics-token", "postgres-password", "database-url"}
    assert set(made) == names
    assert made["postgres-password"] in made["database-url"]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in tmp_path.iterdir())
    named = {
        str(value).rpartition("/")[2]
        for service in COMPOSE["services"].values()
        for name, value in (service.get("environment") or {}).items()
        if name.endswith("_FILE")
    }
    assert named == set(made)

    subprocess.run(command, check=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == made


def test_the_table_of_settings_names_every_variable_that_is_read() -> None:
    settings = "".join(path.read_text() for path in (ROOT / "labelhub/settings").glob("*.py"))
    read = set(re.findall(r'\benv\.\w+\(\s*"(\w+)"', settings))
    guide = (ROOT / "docs/operators.md").read_text().partition("## Settings")[2]
    rows = re.findall(r"^\| (.+?) \|", guide.partition("\n## ")[0], re.MULTILINE)
    table = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(read) > 60
    # The row of OTEL_EXPORTER_OTLP_ENDPOINT speaks of the others.
    assert {name for name in read - table if not name.startswith("OTEL_")} == set()
