from django.urls import path

from apps.reviews.api import views

urlpatterns = [
    path("projects/<slug:slug>/plan/", views.PlanView.as_view(), name="api_plan"),
    path("projects/<slug:slug>/next/", views.NextView.as_view(), name="api_next"),
    path("projects/<slug:slug>/leases/<uuid:token>/", views.LeaseView.as_view(), name="api_lease"),
    path("projects/<slug:slug>/labels/", views.LabelListView.as_view(), name="api_labels"),
    path("projects/<slug:slug>/items/", views.ItemListView.as_view(), name="api_items"),
    path("items/<int:pk>/", views.ItemDetailView.as_view(), name="api_item"),
]
