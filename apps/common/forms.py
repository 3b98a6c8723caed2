"""Errors of services, shown on forms."""

from django.forms import BaseForm
from django.utils.text import capfirst

from labelhub.core.errors import LabelhubError


def show_refusal(form: BaseForm, error: LabelhubError) -> None:
    """Add a service's error to the fields that it names, or else to the whole form.

    It names them in its data, or one at the start of its message: ``budget: …``.
    """
    faults = error.data.get("errors")
    if not faults:
        field, _, words = str(error.message).partition(": ")
        faults = [{"field": field, "message": capfirst(words)}]
    for fault in faults:
        known = fault["field"] in form.fields
        message = fault["message"] if known or not fault["field"] else error.message
        form.add_error(fault["field"] if known else None, message)
