"""One request: signed, to the address that was checked, bounded in time and size."""

import asyncio
import base64
import socket
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from apps.exchange.models import Webhook
from apps.exchange.webhooks import payloads, transport
from apps.exchange.webhooks.transport import (
    Answer,
    check_url,
    is_allowed,
    refusal_message,
    sending,
)
from labelhub.core.errors import InvalidInput
from labelhub.core.phrases import Phrase
from tests.fakes.receiver import Receiver

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "webhooks.md"
#: The vector of the specification's own libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE = "msg_p5jXN8AQM9LWM0D4loKWxJek"
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
BODY = b'{"test": 2432232314}'


def post(url: str, body: bytes = BODY, **headers: str) -> Answer:
    with sending() as send:
        return send(url, body, headers)


def test_signatures_are_those_of_the_specification() -> None:
    assert payloads.signature(SECRET, MESSAGE, 1614265330, BODY) == SIGNATURE


def test_secrets_are_long_random_and_sealed() -> None:
    first, other = payloads.new_secret(), payloads.new_secret()
    assert first != other
    assert len(base64.b64decode(first.removeprefix("whsec_"))) == 32
    assert first.encode() not in payloads.sealed(first)


def test_while_a_secret_is_replaced_both_sign() -> None:
    now, secrets = timezone.now(), [payloads.new_secret() for _ in "ab"]
    webhook = Webhook(secret=payloads.sealed(secrets[0]), old_secret=payloads.sealed(secrets[1]))
    timestamp = int(now.timestamp())
    for until, count in [(now + timedelta(hours=1), 2), (now - timedelta(seconds=1), 1)]:
        webhook.old_secret_until = until
        headers = payloads.signed_headers(webhook, MESSAGE, BODY, now)
        wanted = [
            payloads.signature(secret, MESSAGE, timestamp, BODY) for secret in secrets[:count]
        ]
        assert headers["webhook-signature"].split(" ") == wanted
        assert (headers["webhook-id"], headers["webhook-timestamp"]) == (MESSAGE, str(timestamp))


def example() -> Any:
    """``verified`` of the guide's example."""
    code = GUIDE.read_text().split("```python\n", 1)[1].split("```", 1)[0]
    found: dict[str, Any] = {}
    exec(compile(code, str(GUIDE), "exec"), found)  # noqa: S102 - our own guide
    return found["verified"]


def test_the_example_of_the_guide_takes_what_is_ours_and_nothing_else() -> None:
    verified, now = example(), timezone.now()
    webhook = Webhook(secret=payloads.sealed(SECRET))
    headers = payloads.signed_headers(webhook, MESSAGE, BODY, now)
    assert verified(headers, BODY, SECRET) == {"test": 2432232314}
    late = payloads.signed_headers(webhook, MESSAGE, BODY, now - timedelta(minutes=6))
    other = payloads.new_secret()
    for spoilt in [
        (headers, BODY + b" ", SECRET),
        (headers, BODY, other),
        (headers | {"webhook-id": "msg_other"}, BODY, SECRET),
        (headers | {"webhook-signature": "v2,x"}, BODY, SECRET),
        (late, BODY, SECRET),
    ]:
        with pytest.raises(ValueError, match=r"is wrong|too old"):
            verified(*spoilt)


def test_what_is_sent_arrives_as_it_is(hook: Receiver) -> None:
    body = '{"said": "größer 👍"}'.encode()
    answer = post(hook.address, body, **{"webhook-id": MESSAGE})
    assert (answer.ok, answer.status, answer.text) == (True, 200, "thanks")
    [got] = hook.received
    assert (got.path, got.body) == ("/hook?of=labels", body)
    assert got.headers["content-type"] == "application/json"
    assert got.headers["webhook-id"] == MESSAGE
    assert got.headers["host"] == hook.address.split("/")[2]
    assert got.headers["user-agent"].startswith("LabelHub/")


def test_a_redirect_is_not_followed(hook: Receiver) -> None:
    hook.status, hook.headers = 302, {"location": hook.address}
    assert post(hook.address).status == 302
    assert len(hook.received) == 1


@pytest.mark.thorough
def test_a_receiver_that_drips_is_cut_off(hook: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "SECONDS", 0.3)
    hook.drips, hook.body = True, b"x" * 200
    began = time.monotonic()
    answer = post(hook.address)
    assert (answer.status, "No whole answer" in answer.error) == (None, True)
    assert time.monotonic() - began < 5


def named(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Every name leads to these."""

    async def resolve(self: Any, host: str, port: int, **_: Any) -> Any:
        return [(0, 0, 0, "", (address, port)) for address in addresses]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", resolve)


def test_the_connection_goes_to_the_address_that_was_checked(
    hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(monkeypatch, "127.0.0.1")
    port = hook.address.split(":")[2]
    assert post(f"http://receiver.example.org:{port}").ok
    assert hook.received[0].headers["host"].startswith("receiver.example.org:")


def test_a_name_in_other_letters_is_asked_for_as_it_is_sent(
    hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def resolve(self: Any, host: str, port: int, **_: Any) -> Any:
        asked.append(host)
        return [(0, 0, 0, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", resolve)
    assert post(f"http://straße.example:{hook.address.split(':')[2]}").ok
    assert asked == ["xn--strae-oqa.example"]
    assert hook.received[0].headers["host"].startswith("xn--strae-oqa.example:")


@pytest.mark.parametrize(
    "addresses", [("10.0.0.7",), ("93.184.216.34", "127.0.0.1"), ("::ffff:169.254.169.254",)]
)
def test_a_name_that_leads_inside_is_refused(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    named(monkeypatch, *addresses)
    answer = post("https://receiver.example.org/hook")
    assert (answer.status, answer.error) == (None, refusal_message("receiver.example.org"))
    assert isinstance(answer.error, Phrase)
    assert answer.error.values


INSIDE = [
    "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "0.1.2.3", "198.18.0.1", "240.0.0.1",
    "fc00::1", "::", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "fec0::1", "::7f00:1",
]  # fmt: skip
HERE = ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]
NEVER = ["169.254.169.254", "fe80::1", "224.0.0.1", "ff02::1", "fd00:ec2::254", "100.100.100.200"]


@pytest.mark.parametrize("address", INSIDE + HERE + NEVER)
def test_what_is_inside_is_refused_by_default(address: str, settings: LazySettings) -> None:
    settings.LABELHUB_WEBHOOK_LOOPBACK = settings.LABELHUB_WEBHOOK_PRIVATE = False
    assert not is_allowed(address)


def test_what_an_operator_may_allow(settings: LazySettings) -> None:
    settings.LABELHUB_WEBHOOK_LOOPBACK, settings.LABELHUB_WEBHOOK_PRIVATE = True, False
    assert [is_allowed(address) for address in (HERE[0], HERE[2], INSIDE[0])] == [True, True, False]
    settings.LABELHUB_WEBHOOK_PRIVATE = True
    assert is_allowed("10.1.2.3")
    assert is_allowed("fc00::1")
    assert not any(is_allowed(address) for address in [*NEVER, "::", "::ffff:0:0"])


@pytest.mark.parametrize(
    "url",
    [
        "", "receiver.example.org", "ftp://receiver.example.org", "https://", "file:///etc/passwd",
        "https://user:secret@receiver.example.org/", "https://receiver.example.org/#part",
        "http://127.0.0.1:9000/", "http://[::1]/", "http://localhost/", "http://a.localhost/",
        "http://169.254.169.254/latest/meta-data/", "http://metadata.google.internal/",
        "http://10.0.0.1/", "http://receiver.example.org:0/", "http://receiver.example.org:99999/",
        "https://receiver.example.org/" + "x" * 2000, "http://[", "http://a b/", "javascript:x()",
    ],
)  # fmt: skip
def test_addresses_that_are_none(url: str, settings: LazySettings) -> None:
    settings.LABELHUB_WEBHOOK_LOOPBACK = False
    with pytest.raises(InvalidInput) as refused:
        check_url(url)
    assert refused.value.data["errors"][0]["field"] == "url"


@pytest.mark.parametrize("url", ["http://0x7f000001/", "http://2130706433/", "http://127.1/"])
def test_numbers_in_disguise_lead_nowhere(url: str, settings: LazySettings) -> None:
    settings.LABELHUB_WEBHOOK_LOOPBACK = False
    answer = post(url)
    assert answer.status is None
    assert "not in the open network" in answer.error


def test_nobody_there_is_told_in_words(settings: LazySettings) -> None:
    settings.LABELHUB_WEBHOOK_LOOPBACK = True
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        answer = post(f"http://127.0.0.1:{port}/")
    assert answer.status is None
    assert "connection failed" in answer.error


def test_a_second_address_is_tried_when_the_first_is_dead(
    hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_INET6) as held:
        held.bind(("::1", 0))  # nobody listens there
        named(monkeypatch, "::1", "127.0.0.1")
        assert post(f"http://receiver.example.org:{hook.address.split(':')[2]}").ok
