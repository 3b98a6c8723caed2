"""The operator's console: Django's administration in the theme django-unfold."""

from collections.abc import Callable
from typing import Any

from csp.constants import UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_update
from unfold.sites import UnfoldAdminSite

#: The theme evaluates expressions in attributes and sets styles. Scripts still come from our files
#: only, and all other pages keep the strict policy.
THEME_POLICY = {"script-src": [UNSAFE_EVAL], "style-src": [UNSAFE_INLINE]}


class Console(UnfoldAdminSite):
    """The console at ``/admin/``."""

    def admin_view(self, *args: Any, **options: Any) -> Callable[..., Any]:
        """The view with the theme's content security policy."""
        return csp_update(THEME_POLICY)(super().admin_view(*args, **options))
