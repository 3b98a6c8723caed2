"""Addresses of the page of learning."""

from django.urls import path

from apps.learning import views

urlpatterns = [
    path("p/<slug:slug>/learning/", views.learning, name="learning"),
    path("p/<slug:slug>/learning/progress/", views.learning_progress, name="learning_progress"),
]
