from django.urls import path

from apps.projects.api import views

urlpatterns = [
    path("projects/", views.ProjectsView.as_view(), name="api_projects"),
    path("projects/<slug:slug>/", views.ProjectView.as_view(), name="api_project"),
    path("projects/<slug:slug>/members/", views.MembersView.as_view(), name="api_members"),
]
