"""The test button's words, by what is found at the address."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from apps.llm import probe, services
from apps.llm.probe import check_provider
from tests.cases import all_cases
from tests.factories.llm import ModelSpecFactory, ProviderFactory
from tests.fakes.openai_server import FakeServer, Options, completion
from tests.llm.test_client import self_signed

#: Use is stored by another connection, which does not see a test's open transaction.
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_healthy_endpoint_lists_its_models(model_server: FakeServer) -> None:
    model_server.options.models = ("small", "large", "huge")
    found = check_provider(ProviderFactory.create(base_url=model_server.base_url))
    assert (found.ok, found.models) == (True, ("huge", "large", "small"))
    assert found.words.startswith("Reachable, 3 models")


def test_a_wrong_key_is_said_without_the_key(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-wrong")
    model_server.options.key = "sk-right"
    provider = ProviderFactory.create(base_url=model_server.base_url, api_key_env="SOME_API_KEY")
    found = check_provider(provider)
    assert not found.ok
    assert "refuses the key (status 401)" in found.words
    assert "SOME_API_KEY" in found.words
    assert "sk-" not in found.words


def test_a_missing_v1_is_guessed(model_server: FakeServer) -> None:
    provider = ProviderFactory.create(base_url=model_server.base_url.removesuffix("/v1"))
    assert "mostly ending in /v1" in check_provider(provider).advice


def test_an_endpoint_without_a_list_of_models_is_asked_a_tiny_question(
    model_server: FakeServer,
) -> None:
    model_server.options.lists_models = False
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url)
    found = check_provider(model.provider)
    assert (found.words, found.answers) == (f"'{model.name}' answers.", True)
    assert model_server.requests[0]["max_tokens"] == 30


def test_the_question_shows_structured_output_and_log_probabilities(
    model_server: FakeServer,
) -> None:
    answer = completion("any", '{"label": "yes"}')
    likely = {"token": "yes", "logprob": -0.1, "top_logprobs": []}
    answer["choices"][0]["logprobs"] = {"content": [likely]}
    model_server.answer_with(lambda _: (200, answer))
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url)
    found = check_provider(model.provider)
    assert (found.structured, found.logprobs) == ("a JSON schema", True)
    assert found.models == ("fake-model",)


def test_an_endpoint_that_ignores_the_form_has_no_structured_output(
    model_server: FakeServer,
) -> None:
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url)
    found = check_provider(model.provider)
    assert (found.ok, found.structured, found.logprobs) == (True, "", False)


def test_an_unknown_model_is_said_beside_the_known_ones(model_server: FakeServer) -> None:
    model_server.options.models = ("small",)
    model = ModelSpecFactory.create(name="smal", provider__base_url=model_server.base_url)
    found = check_provider(model.provider)
    assert (found.ok, found.reachable, found.answers) == (False, True, False)
    assert "has no model 'smal'" in found.words
    assert found.models == ("small",)


def test_a_stored_key_is_sent_and_never_said(model_server: FakeServer) -> None:
    model_server.options.key = "sk-right"
    provider = ProviderFactory.create(base_url=model_server.base_url)
    services.save_provider(provider, key="sk-right")
    assert check_provider(provider).ok
    services.save_provider(provider, key="sk-wrong")
    words = check_provider(provider).words
    assert "Copy the whole key again" in words
    assert "sk-" not in words


def test_a_key_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_API_KEY", raising=False)
    assert (
        "SOME_API_KEY is not set"
        in check_provider(ProviderFactory.create(api_key_env="SOME_API_KEY")).words
    )


def test_nobody_there_is_said_with_the_address() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        found = check_provider(ProviderFactory.create(base_url=f"http://127.0.0.1:{port}/v1"))
    assert not found.ok
    assert found.found == f"No connection to 127.0.0.1:{port}."


def test_the_offline_model_is_always_there() -> None:
    found = check_provider(services.ensure_builtin().provider)
    assert found.ok
    assert "not a language model" in found.words


PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Not\n Found &amp; gone</title></head>"
    "<body><script>alert(1)</script><h1>nginx</h1></body></html>"
)
LIST = json.dumps({"data": [{"id": "small"}]})
Reply = tuple[int, str, dict[str, str]]


@contextlib.contextmanager
def replies(models: Reply, chat: Reply = (200, LIST, {})) -> Iterator[tuple[str, list[str]]]:
    """A server with these two replies; its base URL, and the paths that it was asked for."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self._reply(models)

        def do_POST(self) -> None:
            heard.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            self._reply(chat)

        def _reply(self, reply: Reply) -> None:
            status, body, headers = reply
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """No lines among those of the tests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", heard
        server.shutdown()


def failing(message: str, **fields: Any) -> str:
    return json.dumps({"error": {"message": message} | fields})


JSON_LIST: Reply = (200, LIST, {})
MOVED = {"Location": "http://elsewhere.example/v1/models"}
#: What the list and the model reply, what was found, and what to do.
FAILURES: dict[str, tuple[Reply, Reply | None, str, str]] = {
    "page 404": ((404, PAGE, {}), None, "/v1/models does not exist", "Correct the base URL"),
    "asked page 404": (
        JSON_LIST, (404, PAGE, {}), "/v1/chat/completions does not exist", "Correct the base URL",
    ),
    "unknown model": (
        JSON_LIST, (404, failing("No 'tiny'."), {}), "has no model 'tiny'", "Choose a name",
    ),
    "page 200": ((200, PAGE, {}), None, "not like a model server", "Correct the base URL"),
    "no JSON": (JSON_LIST, (200, '{"choi', {}), "not like a model server", "Correct the base URL"),
    "page 502": ((502, PAGE, {}), None, "fails with status 502", "has recovered"),
    "redirect": ((307, "", MOVED), None, "redirects to http://elsewhere.example", "no redirect"),
    "asked redirect": (JSON_LIST, (308, "", MOVED), "redirects to http://elsewhere", "no redirect"),
    "limit": ((429, failing("Slow."), {"Retry-After": "30"}), None, "too many", "again in 30 s"),
    "asked limit": (
        JSON_LIST, (429, failing("Slow."), {"Retry-After": "30"}), "too many", "again in 30 s",
    ),
    "quota": (
        JSON_LIST, (429, failing("Pay.", code="insufficient_quota"), {}), "used up", "the bill",
    ),
    "no key": ((401, failing("Who are you?"), {}), None, "asks for a key", "Enter the key"),
    "refused": (
        JSON_LIST, (400, failing("A bad\r\n <field>"), {}), "status 400", "The server says why",
    ),
}  # fmt: skip


@all_cases("name", FAILURES)
def test_each_failure_says_what_came_back_and_what_to_do(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models, chat, found_words, advice = FAILURES[name]
    spec = ModelSpecFactory.build(name="tiny") if chat else None
    with replies(models, chat or JSON_LIST) as (url, _):
        provider = ProviderFactory.create(base_url=url)
        found = check_provider(provider, spec)
        with monkeypatch.context() as patched:
            patched.setattr(probe, "gettext", "[{}]".format)
            translated = check_provider(provider, spec)
    assert not found.ok
    assert found_words in found.found
    assert advice in found.advice
    assert f"[{found.found}]" == translated.found
    assert translated.advice.startswith("[")
    assert "\n" not in found.words
    assert "<h1>" not in found.words


def test_a_foreign_page_is_quoted_by_its_title_and_a_message_by_one_line() -> None:
    for body, quote in (
        (PAGE, "Not Found & gone"),
        ("<h1>Nothing</h1>", ""),
        (failing("a\n\tb " + "c" * 400), f"a b {'c' * 155}…"),
    ):
        with replies((500, body, {})) as (url, _):
            assert check_provider(ProviderFactory.create(base_url=url)).quote == quote


def test_the_key_does_not_follow_a_redirect() -> None:
    with contextlib.ExitStack() as stack:
        other, heard = stack.enter_context(replies(JSON_LIST))
        moved = (307, "", {"Location": f"{other}/models"})
        url, asked = stack.enter_context(replies(moved))
        provider = ProviderFactory.create(base_url=url)
        services.save_provider(provider, key="sk-secret")
        found = check_provider(provider)
    assert (asked, heard) == (["/v1/models"], [])
    assert found.found.endswith(f"redirects to {other}/models.")


def test_why_there_is_no_connection(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        plain = f"127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        no_tls = check_provider(ProviderFactory.create(base_url=f"https://{plain}/v1"))
        server.socket = self_signed(tmp_path).wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        untrusted = check_provider(ProviderFactory.create(base_url=f"https://{plain}/v1"))
        server.shutdown()
    unknown = check_provider(ProviderFactory.create(base_url="http://no-host.invalid/v1"))
    assert no_tls.found == f"{plain} does not speak TLS."
    assert untrusted.found == f"The certificate of {plain} is not trusted."
    assert untrusted.quote == "self-signed certificate"
    assert unknown.found == "There is no server named no-host.invalid."
    assert {no_tls.reachable, untrusted.reachable, unknown.reachable} == {False}


def test_a_slow_model_is_no_unreachable_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "BOUND", 1.0)

    with FakeServer(Options(latency=5)) as server:
        model = ModelSpecFactory.create(provider__base_url=server.base_url)
        found = check_provider(model.provider)
    assert (found.reachable, found.key_accepted, found.answers) == (True, True, False)
    assert found.found == f"'{model.name}' did not answer within 0.8 s."
    assert "may still be loading" in found.advice
