"""Addresses of the pages of runs and debates."""

from django.urls import path

from apps.debates import views

urlpatterns = [
    path("p/<slug:slug>/runs/", views.run_list, name="run_list"),
    path("p/<slug:slug>/runs/new/", views.run_create, name="run_create"),
    path("p/<slug:slug>/runs/preview/", views.run_preview, name="run_preview"),
    path("p/<slug:slug>/runs/<int:run_id>/", views.run_detail, name="run_detail"),
    path("p/<slug:slug>/runs/<int:run_id>/progress/", views.run_progress, name="run_progress"),
    path("p/<slug:slug>/runs/<int:run_id>/pause/", views.run_pause, name="run_pause"),
    path("p/<slug:slug>/runs/<int:run_id>/resume/", views.run_resume, name="run_resume"),
    path("p/<slug:slug>/runs/<int:run_id>/cancel/", views.run_cancel, name="run_cancel"),
    path("p/<slug:slug>/debates/<int:debate_id>/", views.debate_detail, name="debate_detail"),
]
