"""REST addresses of projects and their members."""

from apps.common.api.viewsets import Router
from apps.projects.api import audit, views
from apps.projects.api.keys import ApiKeyViewSet

router = Router()
router.register("keys", ApiKeyViewSet, "api_api_key")
router.register("projects", views.ProjectsViewSet, "api_projects")
router.register("projects", views.OneProjectViewSet, "api_project")
router.register("projects/<slug:slug>/members", views.MemberViewSet, "api_members")
router.register("projects/<slug:slug>/invitations", views.InvitationViewSet, "api_invitation")
router.register("audit", audit.AuditViewSet, "api_audit")
router.register("projects/<slug:slug>/audit", audit.ProjectAuditViewSet, "api_project_audit")
urlpatterns = router.urls
