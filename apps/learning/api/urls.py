"""REST addresses of learning."""

from django.urls import path

from apps.learning.api.views import LearningView

urlpatterns = [
    path("projects/<slug:slug>/learning/", LearningView.as_view(), name="api_learning"),
]
