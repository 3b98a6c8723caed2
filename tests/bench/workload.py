"""The work: 10,000 texts in, next and submit by one and by eight people, a race, everything out."""

import json
import random
import threading
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tests.bench.client import Answer, Client

LABELS = ["A", "B", "C", "D", "E"]
SEED = 7


def corpus(count: int) -> list[dict[str, Any]]:
    """``count`` texts of 20 to 60 words from a vocabulary of 400, the same every time."""
    rng = random.Random(SEED)  # noqa: S311 - data, not secrets
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 8))) for _ in range(400)]
    texts = (" ".join(rng.choices(words, k=rng.randint(20, 60))) for _ in range(count))
    return [{"id": f"t{index}", "text": text} for index, text in enumerate(texts)]


def right_label(text: str) -> str:
    """The label that the benchmark gives a text: can be checked afterwards."""
    return LABELS[zlib.crc32(text.encode()) % len(LABELS)]


@dataclass
class Record:
    """What clients saw; shared by their threads."""

    next_seconds: list[float] = field(default_factory=list)
    submit_seconds: list[float] = field(default_factory=list)
    handed: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    accepted: list[tuple[int, str, str]] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    wall: float = 0.0

    def handed_beyond(self, overlap: int) -> int:
        """Items handed to more people than were wanted."""
        return sum(len(people) > overlap for people in self.handed.values())

    def labelled_beyond(self, overlap: int) -> int:
        """Items with accepted labels of more people than were wanted."""
        people: dict[int, set[str]] = defaultdict(set)
        for item, _, user in self.accepted:
            people[item].add(user)
        return sum(len(who) > overlap for who in people.values())


@dataclass(frozen=True)
class User:
    """A reviewer and their connection."""

    name: str
    client: Client


class Queue:
    """One project's queue, as its reviewers use it."""

    def __init__(self, slug: str, users: Sequence[User]) -> None:
        self.slug = slug
        self.base = f"/api/v1/projects/{slug}"
        self.users = users

    def next_only(self, clients: int, times: int) -> Record:
        """Each client takes an item and gives it back, ``times`` times; only taking is timed."""
        record = Record()

        def work(user: User) -> None:
            for _ in range(times):
                if given := self._take(user, record):
                    address = f"{self.base}/leases/{given['lease']['token']}/"
                    user.client.request("DELETE", address)

        return self._together(clients, record, work)

    def closed_loop(self, clients: int, seconds: float) -> Record:
        """Take and label without pause for ``seconds``."""
        record = Record()
        until = time.perf_counter() + seconds

        def work(user: User) -> None:
            while time.perf_counter() < until:
                if given := self._take(user, record):
                    self._label(user, given, record)

        return self._together(clients, record, work)

    def race(self, clients: int, rounds: int) -> Record:
        """All take at the same moment, then all label; ``rounds`` times."""
        record = Record()
        barrier = threading.Barrier(clients)

        def work(user: User) -> None:
            for _ in range(rounds):
                barrier.wait()
                given = self._take(user, record)
                barrier.wait()
                if given:
                    self._label(user, given, record)

        return self._together(clients, record, work)

    def _take(self, user: User, record: Record) -> Any:
        answer = user.client.post(f"{self.base}/next/")
        record.next_seconds.append(answer.seconds)
        if answer.status != 200:
            record.errors[_error("next", answer)] += 1
            return None
        given = answer.json
        record.handed[given["item"]["id"]].add(user.name)
        return given

    def _label(self, user: User, given: Any, record: Record) -> None:
        item = given["item"]
        sent = {
            "item": item["id"],
            "value": right_label(item["text"]),
            "lease": given["lease"]["token"],
            "seconds": 1,
        }
        answer = user.client.post(f"{self.base}/labels/", sent)
        record.submit_seconds.append(answer.seconds)
        if answer.status != 201:
            record.errors[_error("submit", answer)] += 1
            return
        record.accepted.append((item["id"], answer.json["uid"], user.name))

    def _together(self, clients: int, record: Record, work: Callable[[User], None]) -> Record:
        began = time.perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            list(pool.map(work, self.users[:clients]))
        record.wall = time.perf_counter() - began
        return record


def import_rows(client: Client, slug: str, rows: Sequence[Any]) -> tuple[float, dict[str, Any]]:
    """One request with all rows, until the last of them is in; seconds and the counts."""
    began = time.perf_counter()
    answer = client.post(f"/api/v1/projects/{slug}/import/", rows)
    if answer.status not in (200, 201, 202):
        raise SystemExit(f"The import failed: {_error('import', answer)}")
    imported = answer.json
    while answer.status == 202 and imported.get("status") not in ("done", "failed"):
        time.sleep(0.02)
        imported = client.get(f"/api/v1/projects/{slug}/imports/{imported['id']}/").json
    return time.perf_counter() - began, imported


def export_file(client: Client, slug: str, format_name: str) -> Answer:
    """The whole export."""
    answer = client.get(f"/api/v1/projects/{slug}/export/?format={format_name}")
    if answer.status != 200:
        raise SystemExit(f"The export failed: {_error('export', answer)}")
    return answer


def lost_labels(export: Answer, accepted: Sequence[tuple[int, str, str]]) -> int:
    """Accepted labels that a later export, as JSON lines, does not have."""
    items = (json.loads(line) for line in export.body.splitlines() if b'"uid"' in line)
    kept = {label["uid"] for item in items for label in item.get("labels", ())}
    return sum(uid not in kept for _, uid, _ in accepted)


def annotated(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with one label each."""
    return [
        {**row, "labels": [{"annotator": "p1", "kind": "crowd", "value": right_label(row["text"])}]}
        for row in rows
    ]


def _error(stage: str, answer: Answer) -> str:
    return f"{stage} {answer.status} {answer.body[:200].decode(errors='replace')}"
