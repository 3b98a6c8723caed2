"""REST paths of llm."""

from django.urls import path

from apps.llm.api.views import ModelList

urlpatterns = [path("models/", ModelList.as_view(), name="api_model_list")]
