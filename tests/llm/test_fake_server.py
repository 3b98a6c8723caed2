"""The fake endpoint: faults come again as they came, and our prompts get fitting answers."""

import json
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from django.conf import settings

from labelhub.core.prompts import PromptLibrary, fence
from labelhub.core.schema import parse_schema
from tests.fakes.openai_server import FakeServer, Options, decide

TEXT = "The sheets were spotless. Breakfast was cold."


def ask(server: FakeServer, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = Request(server.base_url.removesuffix("/v1") + path, data=data)  # noqa: S310
    with urlopen(request, timeout=5) as answer:  # noqa: S310 - loopback
        return json.loads(answer.read())


@pytest.mark.parametrize("name", ["vote/annotator", "ecj/extractor"])
def test_it_answers_our_prompts_by_the_words_of_the_text(name: str) -> None:
    schema = parse_schema(
        {
            "task": "multi",
            "labels": [
                {"name": "Cleanliness", "description": "spotless or dirty rooms and sheets"},
                {"name": "Food", "include": "breakfast, dinner"},
                {"name": "Location"},
            ],
        }
    )
    prompt = PromptLibrary(Path(settings.PROMPTS_DIR)).get(*name.split("/"))
    given = {
        "task": "multi",
        "question": "Which aspects?",
        "labels": [{"id": "", **vars_of(label)} for label in schema.labels],
        "guideline": "",
        "item": fence(TEXT, "salt"),
        "form": "text",
    }
    messages = prompt.render(**given)
    said = decide([{"role": each.role, "content": each.content} for each in messages])
    assert said.endswith("Final Decision: Cleanliness, Food")
    assert '- Food: "Breakfast"' in said


def vars_of(label: Any) -> dict[str, Any]:
    return {name: getattr(label, name) for name in label.__dataclass_fields__}


def test_the_same_seed_gives_the_same_faults() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    seen = []
    for _ in range(2):
        with FakeServer(Options(seed="7", faults={"malformed": 0.5})) as server:
            seen.append([server._fault(server._chance(b"body"), body) for _ in range(40)])
    assert seen[0] == seen[1]
    assert {"", "malformed"} == set(seen[0])


def test_it_is_steered_over_http(model_server: FakeServer) -> None:
    assert ask(model_server, "/faults", {"faults": {"empty": 1.0}})["faults"] == {"empty": 1.0}
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    answer = ask(model_server, "/v1/chat/completions", body)
    assert answer["choices"][0]["message"]["content"] == ""
    assert ask(model_server, "/stats")["outcomes"] == {"empty": 1}
    ask(model_server, "/reset", {})
    assert ask(model_server, "/stats")["requests"] == 0
