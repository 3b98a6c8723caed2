"""Build what a release consists of into dist/, and try each part as its users will.

The wheel and source archive of the server, the Python client, a list of all components (CycloneDX)
and, where an engine is there, the image. Prints what was done and what remains to be done by hand.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
#: Prints what is installed; `pip inspect` of older versions leaves out license expressions.
INSPECT = """
import importlib.metadata, json
print(json.dumps([
    {"name": each.metadata["Name"], "version": each.version,
     "license_expression": each.metadata.get("License-Expression"),
     "license": each.metadata.get("License"), "classifier": each.metadata.get_all("Classifier")}
    for each in importlib.metadata.distributions()
]))
"""
#: Seconds that a first start may take, with the tables, on a busy machine.
PATIENCE = 600
CHECKLIST = """
By hand (docs/releasing.md):
 1. CHANGELOG.md: what was Unreleased stands under {version} with today's date.
 2. .ci/run and make test-peers have passed on this commit.
 3. No known vulnerabilities: pip-audit --requirement requirements.lock
 4. git tag --sign v{version}, and push the tag.
 5. Publish what lies in dist/, with SHA256SUMS; push the image as labelhub:{version}.
 6. Raise the version: pyproject.toml, labelhub/core/version.py, clients/python/pyproject.toml, and
    the image in deploy/compose/compose.yaml and deploy/kubernetes/kustomization.yaml.
"""


def main() -> int:
    """Build and try; the first failure ends it."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    shutil.rmtree(DIST, ignore_errors=True)
    for source in (ROOT, ROOT / "clients" / "python"):
        # This environment is that of the lock files.
        build = ("build", "--no-isolation", "--skip-dependency-check")
        run(sys.executable, "-m", *build, "--outdir", DIST, source)
    done = [f"{path.name}: {path.stat().st_size / 1e6:.1f} MB" for path in sorted(DIST.iterdir())]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done.append(try_wheel(folder, version))
        done.append(list_components(folder, version))
        done.append(try_client(folder))
        done.append(check_manifests(folder))
        done.append(try_image(version))
    sums = [f"{digest(path)}  {path.name}" for path in sorted(DIST.iterdir())]
    (DIST / "SHA256SUMS").write_text("\n".join(sums) + "\n")
    say("\n".join(["", f"LabelHub {version}", *(f" - {line}" for line in done)]))
    say(CHECKLIST.format(version=version))
    return 0


def try_wheel(folder: Path, version: str) -> str:
    """Install the wheel as a stranger does, and serve it."""
    packages = make_environment(folder / "server", DIST / f"labelhub-{version}-py3-none-any.whl")
    size = sum(file.stat().st_size for file in packages.rglob("*") if file.is_file())
    own = sum(file.stat().st_size for file in packages.glob("labelhub*/**/*") if file.is_file())
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    environ["LABELHUB_SECRET_KEY"] = secrets.token_urlsafe(64)
    command = [str(folder / "server" / "bin" / "labelhub"), "serve", "--port", "0"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environ, stdout=log, stderr=log)  # noqa: S603 - what we have built
    try:
        address = wait_for_address(process, folder / "log")
        count = try_server(address)
        process.send_signal(signal.SIGTERM)
        code = process.wait(15)
    finally:
        process.kill()
    if code:
        raise SystemExit(f"The server ended with {code}.")
    return (
        f"wheel: installed, {count} files of the sign-in page served, stopped; {own / 1e6:.0f} MB, "
        f"with pip and all it needs {size / 1e6:.0f} MB"
    )


def wait_for_address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """Where the server says that it listens."""
    until = monotonic() + PATIENCE
    while monotonic() < until and process.poll() is None:
        if found := re.search(r"listens on (http://\S+)", log.read_text()):
            return found[1]
        sleep(0.2)
    raise SystemExit(f"The server did not start:\n{log.read_text()}")


def try_server(address: str) -> int:
    """Read its health and a page with all files of the page; their number."""
    for path in ("/health/live", "/health/ready"):
        state = json.loads(read(address + path))["status"]
        if state != "ok":
            raise SystemExit(f"{path}: {state}")
    files = set(re.findall(rb'"(/static/[^"#]+)', read(f"{address}/accounts/login/")))
    for path in files:
        read(address + path.decode())
    if len(files) < 10:
        raise SystemExit(f"The sign-in page names only {len(files)} files.")
    return len(files)


def read(address: str) -> bytes:
    """The body; an error status raises."""
    with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - our own server
        return bytes(answer.read())


def list_components(folder: Path, version: str) -> str:
    """Write the components of the image, those of the lock file, with their licences."""
    make_environment(folder / "locked", "--requirement", ROOT / "requirements.lock")
    found = json.loads(run(folder / "locked" / "bin" / "python", "-c", INSPECT))
    parts = [component(found) for found in found if found["name"] not in ("pip", "setuptools")]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "name": "labelhub", "version": version,
                          "purl": f"pkg:pypi/labelhub@{version}",
                          "licenses": [{"license": {"id": "Apache-2.0"}}]},
        },
        "components": parts,
    }  # fmt: skip
    target = DIST / f"labelhub-{version}.cdx.json"
    target.write_text(json.dumps(document, indent=1) + "\n")
    unknown = [part["name"] for part in parts if "licenses" not in part]
    return f"{target.name}: {len(parts)} components; without a licence: {unknown or 'none'}"


def component(found: dict[str, Any]) -> dict[str, Any]:
    """A library as CycloneDX has it, from its metadata."""
    name = re.sub(r"[-_.]+", "-", found["name"]).lower()
    made = {"type": "library", "name": name, "version": found["version"]}
    made["purl"] = f"pkg:pypi/{name}@{found['version']}"
    named = [
        entry.rpartition(" :: ")[2]
        for entry in found["classifier"] or ()
        if entry.startswith("License :: OSI")
    ]
    # Some put the whole text there.
    free = [(found["license"] or "").strip().partition("\n")[0][:100]]
    if expression := found["license_expression"]:
        return made | {"licenses": [{"expression": expression}]}
    licenses = [{"license": {"name": text}} for text in named or free if text]
    return made | ({"licenses": licenses} if licenses else {})


def try_client(folder: Path) -> str:
    """Install the client alone, and read its table of the REST interface."""
    (wheel,) = DIST.glob("labelhub_client-*.whl")
    make_environment(folder / "client", wheel)
    code = "from labelhub_client import Client; Client('http://127.0.0.1:1', 'key')"
    run(folder / "client" / "bin" / "python", "-c", code)
    return f"client: {wheel.name} installed and imported"


def check_manifests(folder: Path) -> str:
    """Validate the Kubernetes objects against the schemas, where kubectl is there."""
    if not shutil.which("kubectl"):
        return "NOT validated: the Kubernetes manifests, as there is no kubectl"
    make_environment(folder / "schemas", "kubernetes-validate")
    (folder / "objects.yaml").write_text(run("kubectl", "kustomize", ROOT / "deploy/kubernetes"))
    run(folder / "schemas" / "bin" / "kubernetes-validate", "--strict", folder / "objects.yaml")
    return "Kubernetes manifests: valid"


def try_image(version: str) -> str:
    """Build the image, serve it with a read-only root and stop it, where an engine is there."""
    engine = next((name for name in ("docker", "podman") if answers(name, "info")), "")
    if not engine:
        return "NOT built: the image, as there is no engine; nor was compose.yaml tried"
    tag = f"labelhub:{version}"
    run(engine, "build", "--tag", tag, ROOT)
    with container(engine, tag) as name:
        host = run(engine, "port", name, "8000/tcp").split()[0]
        until = monotonic() + PATIENCE
        while "listens on" not in run(engine, "logs", name):
            if monotonic() > until:
                raise SystemExit(run(engine, "logs", name))
            sleep(1)
        try_server(f"http://{host}")
        run(engine, "stop", "--time", "15", name)
        code = run(engine, "inspect", "--format", "{{.State.ExitCode}}", name).strip()
        if code != "0":
            raise SystemExit(f"The server in the image ended with {code}.")
    if not answers(engine, "compose", "version"):
        return f"image: {tag} built and tried; NOT tried: compose.yaml, as {engine} has no compose"
    compose = ROOT / "deploy/compose/compose.yaml"
    run(engine, "compose", "--file", compose, "config", "--quiet")
    return f"image: {tag} built and tried; compose.yaml valid"


def answers(program: str, *arguments: str) -> bool:
    """Whether the program is there and does this without an error."""
    command = [shutil.which(program) or "false", *arguments]
    return not subprocess.run(command, capture_output=True, check=False).returncode  # noqa: S603 - named here


@contextmanager
def container(engine: str, tag: str) -> Iterator[str]:
    """A running server with a read-only root; its name."""
    name = f"labelhub-release-{os.getpid()}"
    options = ["--read-only", "--tmpfs", "/tmp", "--publish", "127.0.0.1::8000"]  # noqa: S108 - in the container
    secret = f"LABELHUB_SECRET_KEY={secrets.token_urlsafe(64)}"
    run(engine, "run", "--detach", "--name", name, *options, "--env", secret, tag)
    try:
        yield name
    finally:
        run(engine, "rm", "--force", "--volumes", name)


def make_environment(folder: Path, *what: str | Path) -> Path:
    """A fresh virtual environment with ``what`` installed; its site-packages."""
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", *what)
    return next((folder / "lib").glob("python*/site-packages"))


def run(*command: str | Path) -> str:
    """Run to the end; what it prints."""
    say(f"$ {' '.join(map(str, command))}")
    environ = {
        name: value for name, value in os.environ.items() if not name.startswith("LABELHUB_")
    }
    environ["BUILDAH_FORMAT"] = "docker"  # Podman's own format has no health checks.
    done = subprocess.run(  # noqa: S603 - our own commands
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout + (done.stderr if "logs" in command else "")


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
