"""Refusals of services, shown where the form can be mended."""

from django.forms import BaseForm

from labelhub.core.errors import LabelhubError


def show_refusal(form: BaseForm, error: LabelhubError) -> None:
    """Put what a service refused beside the fields it names, else above the form.

    It names them in its data, or one at the beginning of its message: ``budget: …``.
    """
    faults = error.data.get("errors") or [_named(form, error.message)]
    for fault in faults:
        known = fault["field"] in form.fields
        message = fault["message"] if known or not fault["field"] else error.message
        form.add_error(fault["field"] if known else None, message)


def _named(form: BaseForm, message: str) -> dict[str, str]:
    name, colon, words = message.partition(": ")
    if colon and name in form.fields:
        return {"field": name, "message": words[:1].upper() + words[1:]}
    return {"field": "", "message": message}
