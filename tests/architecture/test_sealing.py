"""Everything that is encrypted is found by ``reseal`` and by the check of a backup's keys."""

import ast
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.db.models import BinaryField

from apps.common.sealing import SealedField
from labelhub.management.recovery.sealed import sealed_fields

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {str(field) for field in sealed_fields()}
NAMES = {field.name for field in sealed_fields() if isinstance(field, SealedField)}
#: Function that encrypts and leaves storing to others → a column of ``sealed_fields``, or why it
#: needs none.
STORED = {
    "apps/accounts/adapter.py encrypt": "mfa.Authenticator.data",
    "apps/common/sealing.py reseal": "where it was",
    "apps/common/shown_once.py keep_secret": "a session, until the next page",
    "apps/exchange/webhooks/payloads.py sealed": "exchange.Webhook.secret",
}


def unstored(source: str) -> Iterator[str]:
    """The functions with a statement that calls ``seal`` and names no encrypted column."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in ast.walk(function):
                parts = list(ast.walk(statement))
                if (
                    isinstance(statement, ast.stmt)
                    and not hasattr(statement, "body")
                    and any(map(_seals, parts))
                    and not NAMES.intersection(name for part in parts for name in _names(part))
                ):
                    yield function.name


def _seals(part: ast.AST) -> bool:
    """Whether ``part`` is the function ``seal``, called or handed on."""
    return (isinstance(part, ast.Name) and part.id == "seal") or (
        isinstance(part, ast.Attribute) and part.attr == "seal"
    )


def _names(part: ast.AST) -> Iterator[str]:
    """What a part of a statement may store in: an attribute, an argument, a key."""
    if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
        yield part.attr
    elif isinstance(part, ast.keyword) and part.arg:
        yield part.arg
    elif isinstance(part, ast.Constant) and isinstance(part.value, str):
        yield part.value


def test_every_binary_column_is_known_to_be_encrypted_or_not() -> None:
    plain = {
        str(field)
        for model in apps.get_models()
        for field in model._meta.local_fields
        if isinstance(field, BinaryField) and not isinstance(field, SealedField)
    }
    # What Echo packs. A new column of encrypted values is a SealedField: reseal must find it.
    assert plain == {"echo.Echo.state", "echo.ModelState.packed", "echo.Snapshot.packed"}


def test_whoever_encrypts_stores_it_in_a_column_that_reseal_finds() -> None:
    found = {
        f"{path.relative_to(ROOT)} {function}"
        for folder in ("apps", "labelhub")
        for path in (ROOT / folder).rglob("*.py")
        for function in unstored(path.read_text())
    }
    assert found == set(STORED), "store it in a SealedField, or say in STORED where it is"
    assert {where for where in STORED.values() if where.count(".") == 2} <= COLUMNS


def test_a_value_that_is_stored_elsewhere_is_noticed() -> None:
    fine = 'def a(x):\n x.sealed = seal(b"")\n y(body=seal(b""))\n return {"secret": seal(b"")}'
    assert not list(unstored(fine))
    for statement in ("x.note = seal(b'')", "return sealing.seal(t)", "y = map(seal, t)"):
        assert list(unstored(f"def a(x, t):\n if x:\n  {statement}")) == ["a"]
