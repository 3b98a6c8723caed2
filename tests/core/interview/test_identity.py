"""Whom a host's token names, and that no other token is believed."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.interview.identity import IdentExpired, IdentInvalid, VerifiedVisitor, read_ident
from tests.cases import all_cases

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
AT = int(NOW.timestamp())
OLD, NEW = b"o" * 32, b"n" * 32
SITE = "pk_live_9f"
CLAIMS = {"aud": SITE, "sub": "user-1", "iat": AT, "exp": AT + 600, "jti": "j1"}


def token(
    key: Any = NEW,
    *,
    algorithm: str = "HS256",
    header: dict[str, Any] | None = None,
    **changed: Any,
) -> str:
    """A token with the usual claims, ``changed``; ``...`` leaves a claim out."""
    claims = {name: value for name, value in (CLAIMS | changed).items() if value is not ...}
    return jwt.encode(claims, key, algorithm=algorithm, headers=header)


def unsigned(header: dict[str, Any], payload: object, signature: str = "") -> str:
    parts = (json.dumps(part).encode() for part in (header, payload))
    written = [base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts]
    return ".".join([*written, signature])


def read(
    written: str, secrets: dict[str, bytes] | None = None, now: datetime = NOW
) -> VerifiedVisitor:
    return read_ident(written, secrets or {"new": NEW}, audience=SITE, now=now)


def test_while_a_secret_is_replaced_the_kid_says_which_one_signed() -> None:
    secrets = {"old": OLD, "new": NEW}
    assert read(token(OLD, header={"kid": "old"}), secrets).sub == "user-1"
    assert read(token(NEW, header={"kid": "new"}), secrets).sub == "user-1"
    for refused in (token(NEW), token(NEW, header={"kid": "old"}), token(header={"kid": "no"})):
        with pytest.raises(IdentInvalid):
            read(refused, secrets)


def test_a_kid_that_is_not_ours_is_refused_even_with_one_secret() -> None:
    with pytest.raises(IdentInvalid, match="kid"):
        read(token(header={"kid": "other"}))


def test_without_a_secret_nobody_is_believed() -> None:
    with pytest.raises(IdentInvalid):
        read_ident(token(), {}, audience=SITE, now=NOW)


@all_cases(
    ("changed", "words"),
    [
        ({"exp": ...}, "exp"),
        ({"iat": ...}, "iat"),
        ({"aud": ...}, "aud"),
        ({"sub": ...}, "sub"),
        ({"aud": "pk_live_other"}, "aud"),
        ({"aud": [SITE, "pk_live_other"]}, "aud"),
        ({"exp": AT + 3_601}, "exp"),
        ({"exp": AT}, "exp"),
        ({"iat": AT + 61, "exp": AT + 600}, "iat"),
        ({"nbf": AT + 61}, "nbf"),
        ({"exp": str(AT + 600)}, "exp"),
        ({"exp": True}, "exp"),
        ({"iat": float("nan")}, "iat"),
        ({"exp": 10**400}, "exp"),
        ({"sub": ""}, "sub"),
        ({"sub": "  "}, "sub"),
        ({"sub": "a\nb"}, "sub"),
        ({"sub": "a\u202eb"}, "sub"),
        ({"sub": "x" * 201}, "sub"),
        ({"sub": ["x"]}, "sub"),
        ({"jti": "x" * 201}, "jti"),
        ({"jti": ["x"]}, "jti"),
        ({"attrs": [1]}, "attrs"),
        ({"attrs": {"x": float("inf")}}, "attrs"),
        ({"attrs": {"x": "y" * 2_050}}, "attrs"),
    ],
)
def test_a_claim_that_is_missing_or_wrong_is_named(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(IdentInvalid, match=words):
        read(token(**changed))


def test_an_hour_is_allowed_and_then_the_host_is_asked_for_a_new_token() -> None:
    hour = token(exp=AT + 3_600)
    assert read(hour, now=NOW + timedelta(seconds=3_599)).sub == "user-1"
    with pytest.raises(IdentExpired) as caught:
        read(hour, now=NOW + timedelta(seconds=3_600))
    assert caught.value.code == "ident_expired"


@pytest.mark.parametrize("algorithm", ["HS384", "HS512"])
def test_no_other_algorithm_counts_even_with_the_right_secret(algorithm: str) -> None:
    with pytest.raises(IdentInvalid):
        read(token(NEW * 2, algorithm=algorithm), {"new": NEW * 2})


@all_cases("alg", ["none", "None", "NONE", "", None, 1])
def test_an_unsigned_token_is_refused(alg: object) -> None:
    with pytest.raises(IdentInvalid):
        read(unsigned({"alg": alg, "typ": "JWT"}, CLAIMS))


def test_a_token_signed_with_a_private_key_is_refused() -> None:
    private = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    public = private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    with pytest.raises(IdentInvalid):
        read(token(private, algorithm="RS256"), {"new": public})


@all_cases(
    "written",
    [
        "",
        ".",
        "..",
        "a.b.c",
        "é.é.é",
        "\ud800.a.b",
        "x" * 5_000,
        unsigned({"alg": "HS256"}, []),
        unsigned({"alg": "HS256"}, "[" * 900),
        f"{'W1tb' * 500}.{'W1tb' * 500}.x",
    ],
)
def test_rubbish_is_refused(written: str) -> None:
    with pytest.raises(IdentInvalid):
        read(written)


def test_a_token_signed_but_nested_beyond_the_stack_is_refused() -> None:
    deep = jwt.PyJWS().encode(b"[" * 2_900, NEW, algorithm="HS256")
    with pytest.raises(IdentInvalid):
        read(deep)


@given(st.text(max_size=200))
def test_nothing_but_our_errors_comes_of_any_text(written: str) -> None:
    with pytest.raises(IdentInvalid):
        read(written)


@given(
    st.dictionaries(
        st.sampled_from(["aud", "sub", "iat", "exp", "jti", "nbf", "attrs"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()),
    )
)
def test_nothing_but_our_errors_comes_of_any_signed_claims(changed: dict[str, Any]) -> None:
    written = jwt.PyJWS().encode(json.dumps(CLAIMS | changed).encode(), NEW, algorithm="HS256")
    try:
        found = read(written)
    except (IdentInvalid, IdentExpired):
        return
    assert NOW < found.expires_at <= NOW + timedelta(seconds=3_660)
    assert 1 <= len(found.sub) <= 200


def test_a_changed_token_is_refused() -> None:
    head, _, signature = token().split(".")
    _, body, _ = token(OLD, sub="admin").split(".")
    with pytest.raises(IdentInvalid):
        read(f"{head}.{body}.{signature}")
