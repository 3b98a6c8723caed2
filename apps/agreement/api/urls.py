"""REST addresses of agreement, evaluation, gold, automation and experiments."""

from apps.agreement.api import agreement, experiments
from apps.agreement.api.automation import AutomationViewSet
from apps.common.api.viewsets import Router

PROJECT = "projects/<slug:slug>"

router = Router()
router.register(f"{PROJECT}/evaluation", agreement.EvaluationViewSet, "api_evaluation")
router.register(f"{PROJECT}/agreement", agreement.AgreementViewSet, "api_agreement")
router.register(f"{PROJECT}/automation", AutomationViewSet, "api_automation")
router.register(f"{PROJECT}/gold", agreement.GoldViewSet, "api_gold")
router.register(
    f"{PROJECT}/experiments", experiments.ProjectExperimentViewSet, "api_experiment_list"
)
router.register("experiments", experiments.ExperimentViewSet, "api_experiment")
urlpatterns = router.urls
