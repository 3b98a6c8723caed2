"""REST addresses of evaluation, gold and experiments."""

from django.urls import path

from apps.agreement.api.agreement import AgreementView
from apps.agreement.api.automation import AutomationView
from apps.agreement.api.experiments import ExperimentDetail, ExperimentList
from apps.agreement.api.views import EvaluationView, GoldView

urlpatterns = [
    path("projects/<slug:slug>/evaluation/", EvaluationView.as_view(), name="api_evaluation"),
    path("projects/<slug:slug>/agreement/", AgreementView.as_view(), name="api_agreement"),
    path("projects/<slug:slug>/automation/", AutomationView.as_view(), name="api_automation"),
    path("projects/<slug:slug>/gold/", GoldView.as_view(), name="api_gold"),
    path("projects/<slug:slug>/experiments/", ExperimentList.as_view(), name="api_experiment_list"),
    path("experiments/<int:experiment_id>/", ExperimentDetail.as_view(), name="api_experiment"),
]
