from django.urls import path

from apps.projects.views import people, schema, settings

urlpatterns = [
    path("p/<slug:slug>/labels/", schema.project_schema, name="project_schema"),
    path("p/<slug:slug>/guideline/", schema.project_guideline, name="project_guideline"),
    path("p/<slug:slug>/people/", people.project_people, name="project_people"),
    path("p/<slug:slug>/people/add/", people.member_add, name="member_add"),
    path("p/<slug:slug>/people/new/", people.member_create, name="member_create"),
    path("p/<slug:slug>/people/<int:user_id>/", people.member_change, name="member_change"),
    path("p/<slug:slug>/people/<int:user_id>/remove/", people.member_remove, name="member_remove"),
    path("p/<slug:slug>/settings/", settings.project_settings, name="project_settings"),
    path("p/<slug:slug>/settings/delete/", settings.project_delete, name="project_delete"),
]
