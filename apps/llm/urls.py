"""Pages of providers and models: the shared ones, and those of a project."""

from django.urls import path

from apps.llm import views

PROVIDER = "providers/<int:provider_id>/"
MODEL = f"{PROVIDER}models/<int:model_id>/"
OWN = "p/<slug:slug>/"

urlpatterns = [
    path("providers/", views.provider_list, name="provider_list"),
    path("providers/new/", views.provider_create, name="provider_create"),
    path(PROVIDER, views.provider_edit, name="provider_edit"),
    path(f"{PROVIDER}check/", views.provider_check, name="provider_check"),
    path(f"{PROVIDER}key/remove/", views.provider_key_remove, name="provider_key_remove"),
    path(f"{PROVIDER}remove/", views.provider_remove, name="provider_remove"),
    path(MODEL, views.model_edit, name="model_edit"),
    path(f"{MODEL}forget/", views.model_forget, name="model_forget"),
    path(f"{OWN}providers/", views.project_provider_list, name="project_provider_list"),
    path(f"{OWN}providers/new/", views.project_provider_create, name="project_provider_create"),
    path(f"{OWN}{PROVIDER}", views.project_provider_edit, name="project_provider_edit"),
    path(f"{OWN}{PROVIDER}check/", views.project_provider_check, name="project_provider_check"),
    path(
        f"{OWN}{PROVIDER}key/remove/",
        views.project_provider_key_remove,
        name="project_provider_key_remove",
    ),
    path(f"{OWN}{PROVIDER}remove/", views.project_provider_remove, name="project_provider_remove"),
    path(f"{OWN}{MODEL}", views.project_model_edit, name="project_model_edit"),
    path(f"{OWN}{MODEL}forget/", views.project_model_forget, name="project_model_forget"),
]
