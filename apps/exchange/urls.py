"""Addresses of the import and export pages."""

from django.urls import path

from apps.exchange import views

urlpatterns = [
    path("p/<slug:slug>/import/", views.import_create, name="import_create"),
    path("p/<slug:slug>/import/<int:batch_id>/", views.import_detail, name="import_detail"),
    path(
        "p/<slug:slug>/import/<int:batch_id>/progress/",
        views.import_progress,
        name="import_progress",
    ),
    path("p/<slug:slug>/export/", views.export_page, name="export_page"),
    path("p/<slug:slug>/export/download/", views.export_download, name="export_download"),
]
