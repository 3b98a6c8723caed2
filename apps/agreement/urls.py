"""Pages of agreement and evaluation."""

from django.urls import path

from apps.agreement import views

urlpatterns = [
    path("p/<slug:slug>/evaluation/", views.evaluation, name="evaluation"),
    path("p/<slug:slug>/evaluation/items/", views.evaluation_items, name="evaluation_items"),
]
