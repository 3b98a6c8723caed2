"""A table of cases as one test: collected once, with every case that fails listed by itself; and
what a test takes for granted."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

Found = TypeVar("Found")
PARAMETER_SET = type(pytest.param())


def all_cases(names: str | Iterable[str], cases: Iterable[Any], **_: Any) -> Callable[..., Any]:
    """As ``pytest.mark.parametrize`` with the same arguments, but one test that tries all cases.

    For tests that leave nothing behind: fixtures are shared by all cases.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    rows = [_values(case, len(named)) for case in cases]

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        wanted = inspect.signature(test).parameters

        @functools.wraps(test)
        def run(*args: Any, subtests: pytest.Subtests, **fixtures: Any) -> None:
            if "subtests" in wanted:
                fixtures["subtests"] = subtests
            skipped: list[str] = []
            ended = 0
            for row in rows:
                case = dict(zip(named, row, strict=True))
                with subtests.test(**case):
                    try:
                        test(*args, **fixtures, **case)
                    except pytest.skip.Exception as skip:
                        skipped.append(str(skip))
                    ended += 1
            if skipped and ended == len(rows):  # a case that failed is told, not what was skipped
                pytest.skip(f"{len(skipped)} of {len(rows)} cases: {skipped[0]}")

        kept = [value for name, value in wanted.items() if name not in {*named, "subtests"}]
        own = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = inspect.Signature([*kept, own])  # type: ignore[attr-defined] # pytest reads it
        return run

    return decorate


def _values(case: Any, count: int) -> tuple[Any, ...]:
    values = case.values if isinstance(case, PARAMETER_SET) else case
    return tuple(values) if count > 1 or isinstance(case, PARAMETER_SET) else (values,)


def present(value: Found | None) -> Found:
    """The value, which must be there."""
    assert value is not None
    return value
