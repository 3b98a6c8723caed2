"""REST addresses of runs, their debates and what they go by."""

from apps.common.api.viewsets import Router
from apps.debates.api import prompts, routing, runs

PROJECT = "projects/<slug:slug>"

router = Router()
router.register(f"{PROJECT}/runs", runs.ProjectRunViewSet, "api_run_list")
router.register("runs", runs.RunViewSet, "api_run")
router.register("debates", runs.DebateViewSet, "api_debate")
router.register(f"{PROJECT}/routing", routing.RoutingViewSet, "api_routing")
router.register(f"{PROJECT}/prompts", prompts.PromptViewSet, "api_prompts")
urlpatterns = router.urls
