"""REST addresses of projects and their members."""

from apps.common.api.viewsets import Router
from apps.projects.api import views
from apps.projects.api.keys import ApiKeyViewSet

router = Router()
router.register("keys", ApiKeyViewSet, "api_api_key")
router.register("projects", views.ProjectsViewSet, "api_projects")
router.register("projects", views.OneProjectViewSet, "api_project")
router.register("projects/<slug:slug>/members", views.MemberViewSet, "api_members")
router.register("projects/<slug:slug>/invitations", views.InvitationViewSet, "api_invitation")
urlpatterns = router.urls
