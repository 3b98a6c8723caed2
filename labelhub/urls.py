"""All URLs. Each app defines its own paths in full."""

from allauth.account.decorators import secure_admin_login
from allauth.account.urls import urlpatterns as allauth
from django.conf import settings
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
# The console's own form does not limit password attempts; allauth's does.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

# allauth's pages of passwords, and those that its code redirects to; apps.accounts has those of
# other ways to sign in. The page of e-mail addresses is off: people sign in by address, and nothing
# verifies a new one.
ACCOUNT_PAGES = {
    "account_logout",
    "account_inactive",
    "account_signup",  # closed, but linked in mails to unknown addresses
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
    # Imported where there is a directory only: it is an extra of the package.
    *(
        [path("scim/v2/", include("apps.accounts.scim.urls"))]
        if settings.LABELHUB_SCIM_TOKEN
        else []
    ),
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
