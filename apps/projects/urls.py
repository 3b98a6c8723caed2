from django.urls import path

from apps.projects.views import audit, notifications, people, schema, settings

urlpatterns = [
    path("p/<slug:slug>/labels/", schema.project_schema, name="project_schema"),
    path("p/<slug:slug>/guideline/", schema.project_guideline, name="project_guideline"),
    path("p/<slug:slug>/people/", people.project_people, name="project_people"),
    path("p/<slug:slug>/people/invite/", people.member_invite, name="member_invite"),
    path(
        "p/<slug:slug>/people/invitations/<int:invitation_id>/revoke/",
        people.invitation_revoke,
        name="invitation_revoke",
    ),
    path("p/<slug:slug>/people/<int:user_id>/", people.member_change, name="member_change"),
    path("p/<slug:slug>/people/<int:user_id>/remove/", people.member_remove, name="member_remove"),
    path("p/<slug:slug>/people/groups/", people.group_role_set, name="group_role_set"),
    path(
        "p/<slug:slug>/people/groups/<int:rule_id>/remove/",
        people.group_role_remove,
        name="group_role_remove",
    ),
    path("join/<str:invitation>/", people.join_project, name="join"),
    path("notifications/", notifications.notification_list, name="notification_list"),
    path(
        "notifications/<int:notification_id>/",
        notifications.notification_open,
        name="notification_open",
    ),
    path("notifications/read/", notifications.notifications_read, name="notifications_read"),
    path("notifications/mail/", notifications.notifications_mail, name="notifications_mail"),
    path("audit/", audit.audit_log, name="audit_log"),
    path("p/<slug:slug>/audit/", audit.project_audit, name="project_audit"),
    path("p/<slug:slug>/settings/", settings.project_settings, name="project_settings"),
    path("p/<slug:slug>/settings/delete/", settings.project_delete, name="project_delete"),
]
