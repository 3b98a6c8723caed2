"""Log lines as JSON or for a terminal, of structlog and of Python's own logging alike.

Whatever a line contains, it is one line (in a terminal a traceback's lines begin with a bar), and
long quotations and keys in messages of errors are cut out: these may quote texts to be labelled.
"""

import json
import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterator, MutableMapping
from types import TracebackType
from typing import Any

import structlog

#: A longer quotation in a message may be a text to be labelled.
LONGEST_QUOTE = 24
LONGEST_MESSAGE = 300
MOST_IN_GROUP = 3
MOST_FRAMES = 25

_QUOTE = re.compile(rf"(['\"“«])[^'\"”»]{{{LONGEST_QUOTE + 1},}}(['\"”»])")
_SECRET = re.compile(r"\b(?:lh_|sk-)[\w-]{12,}|(?i:\b(?:bearer|token) )[\w.~+/=-]{12,}")
# Controls, and signs that change the direction or the lines of a text.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
#: The keys at the start of a line, in this order.
_HEAD = ("timestamp", "level", "logger", "event")

EventDict = MutableMapping[str, Any]


def without_quotes(text: str) -> str:
    """``text`` without keys and long quotations."""
    shortened = _QUOTE.sub(lambda found: f"{found[1]}…{found[2]}", text)
    return _SECRET.sub("[secret]", shortened)


def error_words(error: BaseException) -> str:
    """Type and message of ``error``. Only the first line: PostgreSQL quotes the row in others."""
    lines = str(error).splitlines()
    message = without_quotes(lines[0])[:LONGEST_MESSAGE] if lines else ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def error_report(error: BaseException) -> str:
    """The traceback of ``error`` and of what led to it, the first error first."""
    return "\n".join(_report_lines(error, {id(error)}))


def _report_lines(error: BaseException, seen: set[int]) -> Iterator[str]:
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier is not None and id(earlier) not in seen:
        seen.add(id(earlier))
        yield from _report_lines(earlier, seen)
        yield "which led to:"
    yield from _frame_lines(error.__traceback__)
    yield error_words(error)
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions[:MOST_IN_GROUP]:
            seen.add(id(part))
            yield "in a group:"
            yield from _report_lines(part, seen)


def _frame_lines(frames: TracebackType | None) -> Iterator[str]:
    for frame in traceback.extract_tb(frames)[-MOST_FRAMES:]:
        yield f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.line or ''}"


def add_error(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Replace ``exc_info`` by the report of the error."""
    found = event.pop("exc_info", None)
    if found is True:  # structlog's exception()
        found = sys.exc_info()
    if isinstance(found, tuple):
        found = found[1]
    if isinstance(found, BaseException):
        event["exception"] = error_report(found)
    return event


def clean_message(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Cut quotations out of what libraries and modules write in words."""
    record = event.get("_record")
    if record is not None and record.name == "django.request":
        # Its message ends with the path, which may contain the secret of a link.
        event["event"] = "Unexpected error in a page"
    else:
        event["event"] = without_quotes(str(event["event"]).strip())
    return event


def error_filter() -> Callable[[logging.LogRecord], bool]:
    """Passes records of exceptions only."""
    return lambda record: bool(record.exc_info)


def render_console(_logger: object, _method: str, event: EventDict) -> str:
    """One readable line; those of a traceback follow it."""
    report = event.pop("exception", "")
    stamp, level, name, words = (_printable(event.pop(key, "")) for key in _HEAD)
    fields = [f"{key}={_quoted(value)}" for key, value in event.items() if value not in ("", None)]
    first = " ".join([stamp, f"{level.upper():<7}", name, words, *fields])
    return "\n".join([first, *(f"  | {_printable(line)}" for line in report.split("\n") if line)])


def render_json(_logger: object, _method: str, event: EventDict) -> str:
    """One line of ASCII."""
    report = {"exception": event.pop("exception")} if "exception" in event else {}
    head = {key: event.pop(key, "") for key in _HEAD}
    fields = {key: value for key, value in event.items() if value not in ("", None)}
    return json.dumps(head | fields | report, default=str)


def _printable(value: object) -> str:
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", str(value))


def _quoted(value: object) -> str:
    text = _printable(value)
    return json.dumps(text, ensure_ascii=False) if re.search(r"[\s\"=]", text) else text


RENDERERS = {"json": render_json, "console": render_console}
#: What every line gets, also those of Python's own logging.
SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    add_error,
]


def configure_structlog() -> None:
    """Have structlog's loggers write through Python's own."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def formatter(form: str) -> structlog.stdlib.ProcessorFormatter:
    """The formatter of the handler; ``form`` is ``json`` or ``console``."""
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*SHARED, clean_message],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            RENDERERS[form],
        ],
    )
