"""Addresses of the import and export pages."""

from django.urls import path

from apps.exchange import views
from apps.exchange.archive import views as archive
from apps.exchange.new_project import views as new_project
from apps.exchange.saved import views as saved
from apps.exchange.webhooks import views as webhooks

SAVED = "p/<slug:slug>/export/saved/"
HOOKS = "p/<slug:slug>/webhooks/"
HOOK = f"{HOOKS}<int:webhook_id>/"

urlpatterns = [
    path("projects/new/", new_project.project_create, name="project_create"),
    path("projects/new/from/", new_project.project_from_config, name="project_from_config"),
    path("projects/new/archive/", archive.project_imports, name="project_imports"),
    path(
        "projects/new/archive/<int:import_id>/stop/",
        archive.project_import_stop,
        name="project_import_stop",
    ),
    path("projects/new/preview/", new_project.project_preview, name="project_preview"),
    path("p/<slug:slug>/import/", views.import_create, name="import_create"),
    path("p/<slug:slug>/import/<int:batch_id>/", views.import_detail, name="import_detail"),
    path(
        "p/<slug:slug>/import/<int:batch_id>/progress/",
        views.import_progress,
        name="import_progress",
    ),
    path("p/<slug:slug>/api/", views.project_api, name="project_api"),
    path("p/<slug:slug>/export/", views.export_page, name="export_page"),
    path("p/<slug:slug>/export/download/", views.export_download, name="export_download"),
    path(SAVED, saved.saved_list, name="saved_list"),
    path(f"{SAVED}<int:export_id>/file/", saved.saved_file, name="saved_file"),
    path(f"{SAVED}<int:export_id>/manifest/", saved.saved_manifest, name="saved_manifest"),
    path(f"{SAVED}<int:export_id>/verify/", saved.saved_verify, name="saved_verify"),
    path(f"{SAVED}<int:export_id>/delete/", saved.saved_delete, name="saved_delete"),
    path(HOOKS, webhooks.webhook_list, name="webhook_list"),
    path(f"{HOOKS}new/", webhooks.webhook_create, name="webhook_create"),
    path(HOOK, webhooks.webhook_detail, name="webhook_detail"),
    path(f"{HOOK}deliveries/", webhooks.webhook_deliveries, name="webhook_deliveries"),
    path(f"{HOOK}secret/", webhooks.webhook_secret, name="webhook_secret"),
    path(f"{HOOK}ping/", webhooks.webhook_ping, name="webhook_ping"),
    path(f"{HOOK}switch/", webhooks.webhook_switch, name="webhook_switch"),
    path(f"{HOOK}replay/", webhooks.webhook_replay, name="webhook_replay"),
    path(f"{HOOK}delete/", webhooks.webhook_delete, name="webhook_delete"),
]
