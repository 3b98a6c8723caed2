"""Which addresses the server refuses to be sent to."""

import socket
from typing import Any

import pytest

from apps.llm.addresses import AddressRefused, check_base_url, check_resolved
from labelhub.core.llm.errors import ModelUnreachable
from tests.fakes.openai_server import FakeServer
from tests.llm.asking_helpers import make_call, make_spec, opened


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (" https://api.example.org/v1/ ", "https://api.example.org/v1"),
        ("http://vllm:8000/v1", "http://vllm:8000/v1"),
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("http://192.168.1.20/v1", "http://192.168.1.20/v1"),
        ("http://[64:ff9b::8.8.8.8]/v1", "http://[64:ff9b::8.8.8.8]/v1"),
        ("http://[2002:0808:0808::1]/v1", "http://[2002:0808:0808::1]/v1"),
    ],
)
def test_public_private_and_loopback_hosts_pass(given: str, kept: str) -> None:
    assert check_base_url(given) == kept


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "http://169.254.1.1:8080/v1",
        "http://2852039166/v1",
        "http://0xA9FEA9FE/v1",
        "http://[fd00:ec2::254]/v1",
        "http://[fe80::1]/v1",
        "http://[::ffff:169.254.169.254]/v1",
        "http://metadata.google.internal/v1",
        "http://METADATA.google.internal./v1",
        "http://100.100.100.200/v1",
        "http://224.0.0.1/v1",
        "http://[64:ff9b::a9fe:a9fe]/v1",
        "http://[64:ff9b::169.254.169.254]/v1",
        "http://[2002:a9fe:a9fe::1]/v1",
        "http://[2002:6464:64c8::]/v1",
    ],
)
def test_link_local_and_metadata_addresses_are_refused_however_written(url: str) -> None:
    with pytest.raises(AddressRefused, match="link-local or metadata"):
        check_base_url(url)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://example.org/v1", "http:// or https://"),
        ("file:///etc/passwd", "http:// or https://"),
        ("example.org/v1", "http:// or https://"),
        ("", "http:// or https://"),
        ("http:///v1", "no host"),
        ("http://user:secret@example.org/v1", "not contain a user name or password"),
        ("http://example.org/v1?key=1", "must not contain"),
        ("http://example.org:99999/v1", "cannot be read"),
        ("http://[::1/v1", "cannot be read"),
    ],
)
def test_what_is_no_plain_web_address_is_refused(url: str, words: str) -> None:
    with pytest.raises(AddressRefused, match=words) as caught:
        check_base_url(url)
    assert "secret" not in caught.value.message


def test_a_name_that_leads_to_a_metadata_address_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = [(2, 1, 6, "", ("169.254.169.254", 80))]
    monkeypatch.setattr("apps.llm.addresses.socket.getaddrinfo", lambda *_, **__: answer)
    with pytest.raises(AddressRefused, match=r"innocent\.example"):
        check_resolved("http://innocent.example/v1")


async def test_the_gateway_looks_again_before_it_connects() -> None:
    spec = make_spec(provider={"base_url": "http://169.254.169.254/v1"})
    with pytest.raises(AddressRefused):
        async with opened(spec):
            pass


class Name:
    """A name in the DNS that gives one answer after the other; the last stays."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
        self.asked = 0
        self._answers, self._real = answers, socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self._resolve)

    def _resolve(self, host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if host != "rebinding.example" or kwargs.get("flags", 0) & socket.AI_NUMERICHOST:
            return self._real(host, port, *args, **kwargs)
        answer = self._answers[min(self.asked, len(self._answers) - 1)]
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answer, int(port or 0)))]


async def test_a_name_that_leads_elsewhere_after_the_check_is_not_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The resolver is asked anew for each connection: what it says then is what counts."""
    spec = make_spec(provider={"base_url": "http://rebinding.example/v1"})
    name = Name(monkeypatch, "127.0.0.1", "169.254.169.254")
    async with opened(spec) as gateway:
        with pytest.raises(ModelUnreachable, match=r"rebinding\.example' is a link-local"):
            await gateway.complete(spec, make_call())
    assert name.asked == 2


async def test_a_name_of_this_machine_is_connected_to(
    monkeypatch: pytest.MonkeyPatch, model_server: FakeServer
) -> None:
    base_url = model_server.base_url.replace("127.0.0.1", "rebinding.example")
    spec = make_spec(provider={"base_url": base_url})
    Name(monkeypatch, "127.0.0.1")
    async with opened(spec) as gateway:
        assert (await gateway.complete(spec, make_call())).text
