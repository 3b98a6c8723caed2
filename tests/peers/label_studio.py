"""The real Label Studio on this machine, used as its pages use it."""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.exchange.studio_cases import Case, Step
from tests.fakes.stack import free_port

START_SECONDS = 600


class LabelStudio:
    """A running Label Studio and its only user."""

    def __init__(self, address: str, token: str) -> None:
        self.http = httpx.Client(
            base_url=f"{address}/api/", headers={"Authorization": f"Token {token}"}, timeout=60
        )

    def call(self, method: str, path: str, body: Any = None, **params: str) -> Any:
        """One request that must succeed; its answer, decoded if it is JSON."""
        answer = self.http.request(method, path, json=body, params=params)
        assert answer.is_success, (path, answer.status_code, answer.text[:500])
        return answer.json() if answer.content else None

    def project(self, title: str, config: str) -> int:
        """A new project's number."""
        made = self.call("POST", "projects/", {"title": title, "label_config": config})
        return int(made["id"])

    def load(self, project: int, tasks: Sequence[Any]) -> None:
        """Import tasks; each has to be taken."""
        imported = self.call("POST", f"projects/{project}/import", list(tasks))
        assert imported["task_count"] == len(tasks)
        predictions = sum(len(task.get("predictions", ())) for task in tasks)
        assert imported["prediction_count"] == predictions

    def tasks(self, project: int) -> dict[str, dict[str, Any]]:
        """Tasks by their text."""
        found = self.call("GET", "tasks/", project=str(project), fields="all", page_size="1000")
        return {task["data"]["text"]: task for task in found["tasks"]}

    def do(self, case: Case, step: Step, project: int, kind: str) -> None:
        """One step, sent as the labeling page sends it; ``kind`` is the type of an answer."""
        task = self.tasks(project)[case.texts[step.task]]
        prediction = next(iter(task["predictions"]), None)
        body: dict[str, Any] = {
            "project": project,
            "lead_time": step.seconds,
            "parent_prediction": prediction["id"] if prediction else None,
            "parent_annotation": None,
            "result": [],
        }
        annotations = f"tasks/{task['id']}/annotations/"
        if step.action == "accept":
            assert prediction is not None
            self.call("POST", annotations, {**body, "result": prediction["result"]})
        elif step.action == "skip":
            self.call("POST", annotations, {**body, "was_cancelled": True})
        elif step.action == "draft":
            self.call("POST", f"tasks/{task['id']}/drafts", body | results(case, step, kind))
        elif step.action == "update":
            last = max(task["annotations"], key=lambda annotation: int(annotation["id"]))
            answer = {"lead_time": step.seconds, **results(case, step, kind)}
            self.call("PATCH", f"annotations/{last['id']}/", answer)
        else:
            made = self.call("POST", annotations, body | results(case, step, kind))
            if step.action == "truth":
                self.call("PATCH", f"annotations/{made['id']}/", {"ground_truth": True})

    def export(self, project: int, kind: str) -> bytes:
        """A whole export, unannotated tasks included."""
        params = {"exportType": kind, "download_all_tasks": "true"}
        answer = self.http.get(f"projects/{project}/export", params=params)
        assert answer.is_success, answer.text[:500]
        return answer.content


def results(case: Case, step: Step, kind: str) -> dict[str, Any]:
    """The answer of a step as the page serialises it, regions in code points."""
    text, value = case.texts[step.task], step.value
    parts: list[tuple[str, str, dict[str, Any]]] = []
    if kind == "choices":
        names = value if isinstance(value, list) else [value]
        parts.append(("label", "choices", {"choices": [str(name) for name in names]}))
    elif kind == "rating":
        parts.append(("label", "rating", {"rating": value}))
    else:
        parts.append(("label", "textarea", {"text": [value]}))
    for label, quote in step.quotes:
        start = text.index(quote)
        region = {"start": start, "end": start + len(quote), "text": quote, "labels": [label]}
        parts.append(("evidence", "labels", region))
    made = [
        {"id": secrets.token_urlsafe(7), "from_name": name, "to_name": "text", "type": kind,
         "value": data, "origin": "manual"}
        for name, kind, data in parts
    ]  # fmt: skip
    return {"result": made}


@contextmanager
def running(program: Path, folder: Path) -> Iterator[LabelStudio]:
    """A Label Studio with its own SQLite file, on loopback, that tells nobody about itself."""
    port, token = free_port(), secrets.token_hex(20)
    address = f"http://127.0.0.1:{port}"
    quiet = {
        "COLLECT_ANALYTICS": "false", "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "", "FRONTEND_SENTRY_DSN": "", "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder), "HOME": str(folder),
    }  # fmt: skip
    command = [
        str(program), "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port),
        "--data-dir", str(folder), "--username", "ann@example.org",
        "--password", secrets.token_urlsafe(16), "--user-token", token, "--enable-legacy-api-token",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            command, env={"PATH": os.environ["PATH"], **quiet}, stdout=log, stderr=log,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            _wait(server, address, folder / "log")
            yield LabelStudio(address, token)
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _wait(server: "subprocess.Popen[bytes]", address: str, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            if httpx.get(f"{address}/health", timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(1)
    raise AssertionError(f"Label Studio did not start: {log.read_text()[-2000:]}")
