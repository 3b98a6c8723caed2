"""REST addresses of imports and exports."""

from django.urls import path

from apps.exchange.api import saved, webhooks
from apps.exchange.api.views import ExportView, ImportDetailView, ImportView

SAVED = "projects/<slug:slug>/exports/"
ONE_SAVED = f"{SAVED}<int:export_id>/"
HOOKS = "projects/<slug:slug>/webhooks/"
HOOK = f"{HOOKS}<int:webhook_id>/"

urlpatterns = [
    path("projects/<slug:slug>/import/", ImportView.as_view(), name="api_import"),
    path(
        "projects/<slug:slug>/imports/<int:batch_id>/",
        ImportDetailView.as_view(),
        name="api_import_detail",
    ),
    path("projects/<slug:slug>/export/", ExportView.as_view(), name="api_export"),
    path(SAVED, saved.SavedExportsView.as_view(), name="api_saved_list"),
    path(ONE_SAVED, saved.SavedExportView.as_view(), name="api_saved"),
    path(f"{ONE_SAVED}file/", saved.SavedFileView.as_view(), name="api_saved_file"),
    path(f"{ONE_SAVED}manifest/", saved.SavedManifestView.as_view(), name="api_saved_manifest"),
    path(f"{ONE_SAVED}verify/", saved.SavedVerifyView.as_view(), name="api_saved_verify"),
    path(HOOKS, webhooks.WebhooksView.as_view(), name="api_webhook_list"),
    path(HOOK, webhooks.WebhookView.as_view(), name="api_webhook"),
    path(f"{HOOK}secret/", webhooks.WebhookSecretView.as_view(), name="api_webhook_secret"),
    path(f"{HOOK}ping/", webhooks.WebhookPingView.as_view(), name="api_webhook_ping"),
    path(f"{HOOK}deliveries/", webhooks.DeliveriesView.as_view(), name="api_webhook_deliveries"),
    path(f"{HOOK}replay/", webhooks.WebhookReplayView.as_view(), name="api_webhook_replay"),
]
