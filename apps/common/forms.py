"""Refusals of services, shown where the form can be mended."""

from django.forms import BaseForm

from labelhub.core.errors import LabelhubError


def show_refusal(form: BaseForm, error: LabelhubError) -> None:
    """Put what a service refused beside the fields it names, else above the form."""
    faults = error.data.get("errors") or [{"field": "", "message": error.message}]
    for fault in faults:
        known = fault["field"] in form.fields
        message = fault["message"] if known or not fault["field"] else error.message
        form.add_error(fault["field"] if known else None, message)
