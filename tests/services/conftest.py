"""One stack for the tests of a process: PostgreSQL, Redis, two servers. Workers are each test's."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.fakes.client import Client
from tests.fakes.openai_server import FakeServer
from tests.fakes.stack import Program, Redis, Stack, own_database
from tests.fakes.texts import SCHEMA, reviews


@dataclass(frozen=True)
class Site:
    """Servers A and B over one database, seen by the operator ``boss``."""

    stack: Stack
    redis: Redis
    models: FakeServer
    a: Client
    b: Client
    _numbers: Iterator[int]

    def project(self, items: int) -> str:
        """A new project with so many items, imported through A; its slug."""
        slug = f"hotel-{next(self._numbers)}"
        self.a.post("projects/", {"slug": slug, "schema": SCHEMA})
        assert self.a.post(f"projects/{slug}/import/", reviews(items))["created"] == items
        return slug

    def run(self, slug: str, protocol: str, model: str = "fake-model") -> int:
        """Start a run through A; its id."""
        made = self.a.post(f"projects/{slug}/runs/", {"protocol": protocol, "model": model})
        return int(made["id"])


@pytest.fixture(scope="session")
def one_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The servers, once for all tests of a process."""
    folder: Path = tmp_path_factory.mktemp("site")
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        pytest.skip("needs PostgreSQL: make test-services")
    redis = Redis(folder)
    with (
        own_database(url) as database,
        FakeServer() as models,
        Stack(
            folder,
            DATABASE_URL=database,
            REDIS_URL=redis.url,
            LABELHUB_LLM_BASE_URL=models.base_url,
            LABELHUB_LLM_MODEL="fake-model",
        ) as stack,
    ):
        key = stack.people("boss")["boss"]
        a, b = (Client(stack.server()[1], key) for _ in "ab")
        yield Site(stack, redis, models, a, b, count(1))
    redis.kill()


@pytest.fixture
def site(one_site: Site) -> Iterator[Site]:
    """The servers, a Redis that runs, and a model server that behaves."""
    one_site.models.reset()
    yield one_site
    one_site.models.reset()


@pytest.fixture
def new_worker(site: Site) -> Iterator[Callable[[], Program]]:
    """Starts a worker process; they end with the test."""
    started: list[Program] = []

    def start() -> Program:
        started.append(site.stack.worker())
        return started[-1]

    yield start
    for worker in started:
        worker.kill()
