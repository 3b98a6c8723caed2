"""Model validation with readable errors."""

from collections.abc import Collection, Container, Mapping, Sequence
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models

from labelhub.core.errors import InvalidInput


def check_model(instance: models.Model, *, exclude: Collection[str] = ()) -> None:
    """``full_clean``, for services.

    Raises:
        InvalidInput: its message names each field and its error; ``data["errors"]`` lists them as
            ``{"field", "message"}``.
    """
    try:
        instance.full_clean(exclude=set(exclude))
    except ValidationError as error:
        raise invalid_input(error) from None


def refuse_unknown(sent: Any, known: Container[str], owner: str) -> None:
    """Refuse a body with an unknown field: a misspelt one would otherwise be ignored.

    Raises:
        InvalidInput: ``owner``, such as "A project", has no such field.
    """
    for name in sent if isinstance(sent, dict) else ():
        if name not in known:
            raise InvalidInput.at(name[:60], "%(owner)s has no such field.", owner=owner)


def invalid_input(error: ValidationError) -> InvalidInput:
    """A Django validation error as :class:`InvalidInput`."""
    if not hasattr(error, "error_dict"):
        return InvalidInput(" ".join(error.messages))
    faults = [
        {"field": "" if field == NON_FIELD_ERRORS else field, "message": message}
        for field, messages in error.message_dict.items()
        for message in messages
    ]
    return InvalidInput(join_faults(faults), data={"errors": faults})


def join_faults(faults: Sequence[Mapping[str, str]]) -> str:
    """All of ``{"field", "message"}`` in one line."""
    return " ".join(
        f"{fault['field']}: {fault['message']}" if fault["field"] else fault["message"]
        for fault in faults
    )
