"""The page "New project": the project's own fields, beside those of columns and labels."""

import uuid
from typing import Any

from django import forms

from apps.projects.forms import ProjectForm


class NewProjectForm(ProjectForm):
    """A new project and the source of its items."""

    key = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    file = forms.CharField(required=False, widget=forms.HiddenInput)
    template = forms.CharField(required=False, widget=forms.HiddenInput)
    samples = forms.BooleanField(
        required=False, initial=True, label="Add the sample items, to try it at once"
    )

    def project_fields(self) -> dict[str, Any]:
        """The arguments of ``create_project`` without schema and actor."""
        ours = ("task", "file", "template", "samples", "key", "blind_percent")
        fields = {name: value for name, value in self.cleaned_data.items() if name not in ours}
        percent = self.cleaned_data["blind_percent"]
        return fields if percent is None else fields | {"blind_share": percent / 100}
