"""The page on which operators load projects from other servers."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.exchange.archive.services import cancel_import, project_import, request_import
from apps.exchange.models import ProjectImport
from apps.exchange.services.imports import store_upload
from labelhub.core.errors import LabelhubError

#: How many imports the page shows, the newest first.
SHOWN = 10


class ArchiveForm(forms.Form):
    file = forms.FileField(
        label=_("Project archive"),
        help_text=_("A .zip file that a manager saved on the export page of the other server."),
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
        max_length=500,
    )
    slug = forms.SlugField(
        label=_("Short name"),
        max_length=60,
        required=False,
        help_text=_("Part of the new project's address; empty: as on the other server."),
    )
    match_people = forms.BooleanField(
        label=_("People of the same user name are the same people"),
        required=False,
        initial=True,
        help_text=_("They get their own labels and comments back, but no rights."),
    )
    dry_run = forms.BooleanField(label=_("Only check the archive"), required=False)


@login_required
@require_http_methods(["GET", "POST"])
def project_imports(request: SignedInRequest) -> HttpResponse:
    """Upload an archive; the imports and their results."""
    _check_operator(request)
    form = ArchiveForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        sent = form.cleaned_data
        upload = sent.pop("file")
        try:
            request_import(
                path=store_upload(upload.chunks()),
                file_name=upload.name or "",
                actor=request.user,
                **sent,
            )
        except LabelhubError as error:
            form.add_error("file", error.message)
        else:
            return redirect("project_imports")
    imports = list(ProjectImport.objects.select_related("project", "created_by")[:SHOWN])
    context = {"form": form, "imports": imports, "moving": any(row.moving for row in imports)}
    page = "exchange/project_imports.html"
    part = f"{page}#imports" if request.headers.get("HX-Request") else page
    return render(request, part, context, status=422 if form.errors else 200)


@login_required
@require_POST
def project_import_stop(request: SignedInRequest, import_id: int) -> HttpResponse:
    """Stop an import; what was loaded is deleted."""
    _check_operator(request)
    row = project_import(import_id)
    cancel_import(row)
    messages.success(request, gettext("%(file)s is not imported.") % {"file": row.file_name})
    return redirect("project_imports")


def _check_operator(request: SignedInRequest) -> None:
    if not request.user.is_superuser:
        raise PermissionDenied
