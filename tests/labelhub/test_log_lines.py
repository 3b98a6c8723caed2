"""Log lines: one line each whatever they contain, and no texts in messages of errors."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
import structlog
from django.core.exceptions import ImproperlyConfigured
from environ import Env

from labelhub.observe.log_lines import LONGEST_MESSAGE, error_report, error_words, without_quotes
from labelhub.settings.logs import logging_config
from tests.fakes.log_lines import printed_lines

TEXT = "The breakfast was cold and the room smelled of smoke."
HOSTILE = "ann\n2026-01-01T00:00:00Z INFO labelhub.security signed in user=admin\x1b[31m\u202egnp"


def test_json_lines_have_time_level_logger_event_and_fields_in_this_order() -> None:
    with printed_lines() as lines:
        structlog.get_logger("labelhub.security").warning(
            "refused", user="ann", empty="", none=None
        )
    (line,) = lines.text.splitlines()
    assert list(json.loads(line)) == ["timestamp", "level", "logger", "event", "user"]


@pytest.mark.parametrize("form", ["json", "console"])
def test_hostile_names_forge_no_line(form: str) -> None:
    with printed_lines(form) as lines:
        structlog.get_logger("labelhub.security").warning("refused", user=HOSTILE, path=HOSTILE)
        logging.getLogger("labelhub.security").warning("%s deleted the project", HOSTILE)
        try:
            raise ValueError(HOSTILE)
        except ValueError:
            logging.getLogger("labelhub.security").exception("It broke: %s", HOSTILE)
    printed = lines.text.splitlines()
    own = [line for line in printed if not line.startswith("  | ")]
    assert len(own) == 3
    assert all(line.isprintable() for line in printed)
    assert "\u202e" not in lines.text


def test_console_lines_quote_values_with_blanks() -> None:
    with printed_lines("console") as lines:
        structlog.get_logger("labelhub.security").warning("refused", user='a "b" c=d', status=403)
    assert lines.text.endswith(' refused user="a \\"b\\" c=d" status=403\n')


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("name"), "KeyError: 'name'"),
        (ValueError(f"could not convert string to float: {TEXT!r}"),
         "ValueError: could not convert string to float: '…'"),
        (ValueError(f"null value in column\nDETAIL:  Failing row contains (1, {TEXT})."),
         "ValueError: null value in column"),
        (ValueError(f'[{{"text": "{TEXT}"}}]'), 'ValueError: [{"text": "…"}]'),
        (ValueError("Bearer abcdefghijklmnop refused"), "ValueError: [secret] refused"),
        (ValueError("key lh_0123456789abcdefghij is old"), "ValueError: key [secret] is old"),
        (TypeError(), "TypeError"),
    ],
)  # fmt: skip
def test_messages_of_errors_quote_no_text_and_no_key(error: Exception, words: str) -> None:
    assert error_words(error) == words


def test_messages_of_errors_are_cut() -> None:
    assert len(error_words(ValueError("x" * 9999))) == len("ValueError: ") + LONGEST_MESSAGE


def test_short_quotations_stay_readable() -> None:
    assert (
        without_quotes("filter 'urgent' cannot be applied") == "filter 'urgent' cannot be applied"
    )


def test_a_report_names_all_errors_of_a_chain_and_a_group_and_no_values() -> None:
    def fail(text: str) -> None:
        try:
            raise KeyError(text)
        except KeyError as error:
            raise ExceptionGroup("two", [ValueError(repr(text)), TypeError("b")]) from error

    try:
        fail(TEXT)
    except ExceptionGroup as error:
        report = error_report(error)
    else:
        report = ""
    kinds = [line.partition(":")[0] for line in report.splitlines() if "test_log_lines" not in line]
    assert kinds == [
        "KeyError", "which led to", "ExceptionGroup",
        "in a group", "ValueError", "in a group", "TypeError",
    ]  # fmt: skip
    assert "breakfast" not in report


@pytest.mark.parametrize("get_logger", [logging.getLogger, structlog.get_logger])
def test_both_ways_to_log_an_exception_show_it(get_logger: Callable[[str], Any]) -> None:
    with printed_lines() as lines:
        try:
            raise ValueError("broken")
        except ValueError:
            get_logger("labelhub.security").exception("It broke")
    (line,) = lines.json("labelhub.security", "It broke")
    assert line["exception"].endswith("ValueError: broken")


def test_an_error_of_a_page_is_logged_without_the_path() -> None:
    """The path may contain the secret of a link; the access line has it without."""
    try:
        raise ValueError("broken")
    except ValueError as error:
        with printed_lines() as lines:
            logging.getLogger("django.request").error(
                "%s: %s", "Internal Server Error", "/join/secret-link/", exc_info=error
            )
    (line,) = lines.json()
    assert line["event"] == "Unexpected error in a page"
    assert "secret-link" not in lines.text


def config_of(**env: str) -> dict[str, dict[str, dict[str, str]]]:
    reader = type("Reader", (Env,), {"ENVIRON": env})
    return logging_config(reader(), production=True)


def test_security_lines_are_shown_whatever_the_level() -> None:
    loggers = config_of(LABELHUB_LOG_LEVEL="critical", LABELHUB_ACCESS_LOG="0")["loggers"]
    assert loggers["apps"]["level"] == "CRITICAL"
    assert loggers["labelhub.security"]["level"] == "INFO"
    assert loggers["labelhub.access"]["level"] == "ERROR"


@pytest.mark.parametrize(
    "env", [{"LABELHUB_LOG_FORMAT": "xml"}, {"LABELHUB_LOG_LEVEL": "loud"}], ids=str
)
def test_unknown_settings_are_refused(env: dict[str, str]) -> None:
    with pytest.raises(ImproperlyConfigured, match=next(iter(env))):
        config_of(**env)
