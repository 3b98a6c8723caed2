"""REST addresses of imports and exports."""

from django.urls import path

from apps.exchange.api.views import ExportView, ImportDetailView, ImportView

urlpatterns = [
    path("projects/<slug:slug>/import/", ImportView.as_view(), name="api_import"),
    path(
        "projects/<slug:slug>/imports/<int:batch_id>/",
        ImportDetailView.as_view(),
        name="api_import_detail",
    ),
    path("projects/<slug:slug>/export/", ExportView.as_view(), name="api_export"),
]
