from django.http import HttpRequest
from django.urls import re_path
from django_scim import views

app_name = "scim"
MOST_PER_PAGE = 200


class _Paged:
    def _page(self, request: HttpRequest) -> tuple[int, int]:
        """At most so many, as each costs queries."""
        start, count = super()._page(request)  # type: ignore[misc]
        return start, min(max(count, 0), MOST_PER_PAGE)


class Users(_Paged, views.UsersView):
    """Accounts."""


class Groups(_Paged, views.GroupsView):
    """Groups."""


urlpatterns = [
    re_path(r"^Users(?:/(?P<uuid>[^/]+))?$", Users.as_view(), name="users"),
    re_path(r"^Groups(?:/(?P<uuid>[^/]+))?$", Groups.as_view(), name="groups"),
    re_path(
        r"^ServiceProviderConfig$",
        views.ServiceProviderConfigView.as_view(),
        name="service-provider-config",
    ),
    re_path(
        r"^ResourceTypes(?:/(?P<uuid>[^/]+))?$",
        views.ResourceTypesView.as_view(),
        name="resource-types",
    ),
    re_path(r"^Schemas(?:/(?P<uuid>[^/]+))?$", views.SchemasView.as_view(), name="schemas"),
]
