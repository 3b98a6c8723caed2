"""Pages of providers and models."""

from django.urls import path

from apps.llm import views

urlpatterns = [
    path("providers/", views.provider_list, name="provider_list"),
    path("providers/new/", views.provider_create, name="provider_create"),
    path("providers/<int:provider_id>/", views.provider_edit, name="provider_edit"),
    path("providers/<int:provider_id>/check/", views.provider_check, name="provider_check"),
    path("providers/<int:provider_id>/models/new/", views.model_create, name="model_create"),
    path("providers/<int:provider_id>/models/<int:model_id>/", views.model_edit, name="model_edit"),
    path(
        "providers/<int:provider_id>/models/<int:model_id>/forget/",
        views.model_forget,
        name="model_forget",
    ),
]
