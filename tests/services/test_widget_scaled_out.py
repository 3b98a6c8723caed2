"""Authors whose pages are at two servers, over one database: nothing is asked or counted twice."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import jwt
import pytest

from tests.bench.widget_kill import store
from tests.bench.widget_load import connected
from tests.factories.authors import TEXT
from tests.fakes.client import Client
from tests.fakes.stack import Program
from tests.fakes.widget_client import Embedding, Frame, WidgetClient
from tests.services.conftest import Site

pytestmark = [pytest.mark.services, pytest.mark.timeout(120)]

PATIENCE = 30.0
MESSAGE = {"text": TEXT, "mid": "message-1", "conv": "talk", "role": "author"}


class Page:
    """A page at one server; what it is told without having asked is in ``heard``."""

    def __init__(self, server: Client, site: dict[str, Any], **who: str) -> None:
        url = f"{server.address.replace('http', 'ws', 1)}/ws/v1/widget/"
        self.heard: asyncio.Queue[Frame] = asyncio.Queue()
        embedding = Embedding(url, site["key"], site["origin"], site["consent"])
        self.client = WidgetClient(embedding, **who, on_frame=self.heard.put_nowait)

    async def question(self) -> dict[str, Any]:
        """The next question."""
        while True:
            frame = await asyncio.wait_for(self.heard.get(), PATIENCE)
            if frame["t"] == "question":
                return dict(frame["d"])

    async def answer(self, uid: str, frame_id: str = "") -> Frame:
        """How an answer was taken, in the end."""
        answer = {"qid": uid, "opt": "a", "ms": 9000, "kb": False}
        return await asyncio.wait_for(
            await self.client.push("answer", frame_id=frame_id, **answer), PATIENCE
        )


@asynccontextmanager
async def page_at(server: Client, site: dict[str, Any], **who: str) -> AsyncIterator[Page]:
    """A page that was welcomed."""
    page = Page(server, site, **who)
    async with connected([page.client]):
        yield page


async def test_an_author_goes_on_at_the_other_server(site: Site) -> None:
    embedding = await asyncio.to_thread(store, site.stack, "site", "most_questions=1")
    async with page_at(site.a, embedding) as page:
        await page.client.push("msg", **MESSAGE)
        asked = await page.question()
        token = page.client.token
    async with page_at(site.b, embedding, token=token) as page:
        assert page.client.welcome["resumed"]
        assert (await page.question())["qid"] == asked["qid"]
        assert (await page.answer(asked["qid"], "answer-1"))["t"] == "ack"
        assert page.client.nacks["too_early"] == 1
        assert (await (await page.client.push("msg", **MESSAGE)))["t"] == "ack"
    async with page_at(site.a, embedding, token=token) as page:
        assert (await page.answer(asked["qid"], "answer-1"))["t"] == "ack"
    found = await asyncio.to_thread(store, site.stack, "answers", embedding["key"])
    assert (found["rows"], found["labels"], found["golds"]) == (1, 1, 1)
    messages = await asyncio.to_thread(store, site.stack, "messages", embedding["key"])
    assert messages["messages"] == 1


async def test_of_two_pages_that_answer_at_once_one_is_heard(site: Site) -> None:
    embedding = await asyncio.to_thread(store, site.stack, "questions", 1, 20)
    (author,) = embedding["authors"]
    async with (
        page_at(site.a, embedding, token=author["token"]) as here,
        page_at(site.b, embedding, token=author["token"]) as there,
    ):
        for uid in author["questions"][1:]:
            both = await asyncio.gather(here.answer(uid), there.answer(uid))
            taken = sorted((frame["t"], frame["d"].get("code", "")) for frame in both)
            assert taken == [("ack", ""), ("nack", "already_answered")]
    found = await asyncio.to_thread(store, site.stack, "answers", embedding["key"])
    assert (found["rows"], found["labels"], found["golds"]) == (19, 19, 19)
    assert found["items_off"] == 0


async def test_what_a_hosts_server_posts_here_is_asked_on_a_page_there(
    site: Site, new_worker: Callable[[], Program]
) -> None:
    embedding = await asyncio.to_thread(store, site.stack, "site", "consent_by=host")
    keys = {
        purpose: site.a.post(f"sites/{embedding['key']}/keys/", {"purpose": purpose})
        for purpose in ("server", "sign")
    }
    new_worker()
    async with page_at(site.b, embedding, ident=signed(embedding["key"], keys["sign"])) as page:
        posted = await asyncio.to_thread(
            Client(site.a.address, keys["server"]["secret"]).post,
            f"sites/{embedding['key']}/messages/",
            {"author": "customer-1", "id": "m-1", "conversation": "c", "text": TEXT}
            | {"consent": True},
        )
        assert posted["message"]["status"] == "received", json.dumps(posted)
        question = await page.question()
    assert question["re"] == "m-1"


def signed(public_key: str, key: dict[str, str]) -> str:
    """That the host knows this visitor as customer-1."""
    now = int(time.time())
    claims = {"sub": "customer-1", "aud": public_key, "iat": now, "exp": now + 600}
    headers = {"kid": key["kid"]}
    token = claims | {"jti": uuid.uuid4().hex}
    return jwt.encode(token, key["secret"], algorithm="HS256", headers=headers)
