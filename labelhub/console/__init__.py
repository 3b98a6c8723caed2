"""The operator's console: Django's administration in the theme django-unfold."""

from collections.abc import Callable
from typing import Any

from csp.constants import UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_update
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.sites import UnfoldAdminSite

#: The theme evaluates expressions in attributes and sets styles. Scripts still come from our files
#: only, and all other pages keep the strict policy.
THEME_POLICY = {"script-src": [UNSAFE_EVAL], "style-src": [UNSAFE_INLINE]}


class Console(UnfoldAdminSite):
    """The console at ``/admin/``, for operators."""

    index_title = _("Overview")
    index_template = "admin/overview.html"

    def has_permission(self, request: HttpRequest) -> bool:
        """Operators only: the permissions of Django's staff do not count."""
        return bool(request.user.is_active and request.user.is_superuser)

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Add a page of ours; the tables of libraries are nothing for operators."""
        from apps.common.console import OperatorAdmin  # noqa: PLC0415 - apps must be loaded first

        if admin_class is not None and issubclass(admin_class, OperatorAdmin):
            super().register(model_or_iterable, admin_class, **options)

    def admin_view(self, *args: Any, **options: Any) -> Callable[..., Any]:
        """The view with the theme's content security policy."""
        return csp_update(THEME_POLICY)(super().admin_view(*args, **options))
