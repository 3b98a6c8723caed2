"""The keys of the working screen, as each person wants them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.common.forms import show_refusal
from apps.reviews.key_form import KeyForm
from apps.reviews.selectors.keys import keys_of
from apps.reviews.services.keying import change_keys
from labelhub.core.errors import InvalidInput


@login_required
@require_http_methods(["GET", "POST"])
def review_keys(request: SignedInRequest) -> HttpResponse:
    """One key for each action, or the house's again."""
    form = KeyForm(request.POST or None, initial=keys_of(request.user))
    if request.method == "POST":
        if "reset" in request.POST:
            change_keys(user=request.user, keys={})
            messages.success(request, "The keys are as they were at first.")
            return redirect("review_keys")
        if form.is_valid() and _changed(request, form):
            messages.success(request, "Your keys are changed, on every review screen.")
            return redirect("review_keys")
    return render(request, "reviews/keys.html", {"form": form})


def _changed(request: SignedInRequest, form: KeyForm) -> bool:
    try:
        change_keys(user=request.user, keys=form.cleaned_data)
    except InvalidInput as error:
        show_refusal(form, error)
        return False
    return True
