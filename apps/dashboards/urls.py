"""Pages over several apps."""

from django.urls import path

from apps.dashboards import views

urlpatterns = [
    path("", views.home, name="home"),
    path("p/<slug:slug>/", views.project_overview, name="project_overview"),
    path("p/<slug:slug>/setup/", views.project_setup, name="project_setup"),
    path("p/<slug:slug>/items/", views.item_list, name="item_list"),
    path("p/<slug:slug>/items/<int:item_id>/", views.item_detail, name="item_detail"),
]
