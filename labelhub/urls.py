"""Every page and where it lives. Each app names its own paths in full."""

from allauth.account.decorators import secure_admin_login
from allauth.account.urls import urlpatterns as allauth
from django.contrib import admin
from django.urls import include, path

from apps.accounts.urls import urlpatterns as accounts
from apps.agreement.urls import urlpatterns as agreement
from apps.authors.urls import urlpatterns as authors
from apps.common.urls import urlpatterns as common
from apps.dashboards.urls import urlpatterns as dashboards
from apps.debates.urls import urlpatterns as debates
from apps.echo.urls import urlpatterns as echo
from apps.exchange.urls import urlpatterns as exchange
from apps.learning.urls import urlpatterns as learning
from apps.llm.urls import urlpatterns as llm
from apps.projects.urls import urlpatterns as projects
from apps.reviews.urls import urlpatterns as reviews

handler400 = "apps.common.api.errors.bad_request"
handler404 = "apps.common.api.errors.not_found"
handler500 = "apps.common.api.errors.server_error"
# The console's own form would let anybody try passwords without end; allauth's counts.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

# Of allauth's pages only signing in and the password, and what its own code leads to from there.
# Its page of e-mail addresses stays out: an address is a person's name here, and nobody would
# verify the one that somebody gives themselves.
ACCOUNT_PAGES = {
    "account_login",
    "account_logout",
    "account_inactive",
    "account_signup",  # closed; named in the mail to an address that has no account
    "account_reauthenticate",
    "account_change_password",
    "account_set_password",
    "account_reset_password",
    "account_reset_password_done",
    "account_reset_password_from_key",
    "account_reset_password_from_key_done",
}

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include([page for page in allauth if page.name in ACCOUNT_PAGES])),
    path("api/", include("labelhub.api_urls")),
    *common,
    *accounts,
    *projects,
    *llm,
    *debates,
    *authors,
    *echo,
    *reviews,
    *learning,
    *agreement,
    *exchange,
    *dashboards,
]
