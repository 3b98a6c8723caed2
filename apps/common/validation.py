"""Model validation whose refusals people can read."""

from collections.abc import Collection

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models

from labelhub.core.errors import InvalidInput


def check_model(instance: models.Model, *, exclude: Collection[str] = ()) -> None:
    """``full_clean``, for services.

    Raises:
        InvalidInput: naming each field and what is wrong with it; ``data["errors"]`` has the same
            as a list of ``{"field", "message"}``.
    """
    try:
        instance.full_clean(exclude=set(exclude))
    except ValidationError as error:
        raise invalid_input(error) from None


def invalid_input(error: ValidationError) -> InvalidInput:
    """The same refusal as one of ours."""
    if not hasattr(error, "error_dict"):
        return InvalidInput(" ".join(error.messages))
    faults = [
        {"field": "" if field == NON_FIELD_ERRORS else field, "message": message}
        for field, messages in error.message_dict.items()
        for message in messages
    ]
    words = " ".join(
        f"{fault['field']}: {fault['message']}" if fault["field"] else fault["message"]
        for fault in faults
    )
    return InvalidInput(words, data={"errors": faults})
