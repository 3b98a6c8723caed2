"""REST addresses of evaluation and gold."""

from django.urls import path

from apps.agreement.api.views import EvaluationView, GoldView

urlpatterns = [
    path("projects/<slug:slug>/evaluation/", EvaluationView.as_view(), name="api_evaluation"),
    path("projects/<slug:slug>/gold/", GoldView.as_view(), name="api_gold"),
]
