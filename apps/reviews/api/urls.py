from django.urls import path

from apps.reviews.api import adjudication, bulk, plan, quality, schema_changes, views

ONE_PERSON = "projects/<slug:slug>/quality/<int:user_id>/"

urlpatterns = [
    path("projects/<slug:slug>/quality/", quality.QualityView.as_view(), name="api_quality"),
    path("projects/<slug:slug>/anchoring/", quality.AnchoringView.as_view(), name="api_anchoring"),
    path(ONE_PERSON, quality.QualityPersonView.as_view(), name="api_quality_person"),
    path(f"{ONE_PERSON}pause/", quality.PauseView.as_view(), name="api_quality_pause"),
    path(f"{ONE_PERSON}resume/", quality.ResumeView.as_view(), name="api_quality_resume"),
    path(f"{ONE_PERSON}requeue/", quality.RequeueView.as_view(), name="api_quality_requeue"),
    path("projects/<slug:slug>/plan/", plan.PlanView.as_view(), name="api_plan"),
    path("projects/<slug:slug>/screen/", plan.ScreenView.as_view(), name="api_screen"),
    path("projects/<slug:slug>/next/", views.NextView.as_view(), name="api_next"),
    path("projects/<slug:slug>/leases/<uuid:token>/", views.LeaseView.as_view(), name="api_lease"),
    path("projects/<slug:slug>/labels/", views.LabelListView.as_view(), name="api_labels"),
    path("projects/<slug:slug>/items/", views.ItemListView.as_view(), name="api_items"),
    path(
        "projects/<slug:slug>/schema-changes/",
        schema_changes.SchemaChangeListView.as_view(),
        name="api_schema_changes",
    ),
    path(
        "projects/<slug:slug>/schema-changes/<int:change_id>/",
        schema_changes.SchemaChangeView.as_view(),
        name="api_schema_change",
    ),
    path("items/<int:pk>/", views.ItemDetailView.as_view(), name="api_item"),
    path("items/<int:pk>/opinions/", adjudication.OpinionsView.as_view(), name="api_opinions"),
    path(
        "projects/<slug:slug>/adjudication/",
        adjudication.DocketView.as_view(),
        name="api_adjudication",
    ),
    path(
        "projects/<slug:slug>/adjudication/<int:pk>/",
        adjudication.RulingView.as_view(),
        name="api_adjudicate",
    ),
    path(
        "projects/<slug:slug>/adjudication/<int:pk>/return/",
        adjudication.SendBackView.as_view(),
        name="api_adjudication_return",
    ),
    path(
        "projects/<slug:slug>/comments/",
        adjudication.CommentListView.as_view(),
        name="api_comments",
    ),
    path(
        "projects/<slug:slug>/comments/<int:comment_id>/resolve/",
        adjudication.CommentResolveView.as_view(),
        name="api_comment_resolve",
    ),
    path("projects/<slug:slug>/filters/", bulk.FiltersView.as_view(), name="api_filters"),
    path(
        "projects/<slug:slug>/filters/<int:filter_id>/",
        bulk.FilterView.as_view(),
        name="api_filter",
    ),
    path("projects/<slug:slug>/bulk/", bulk.BulkJobsView.as_view(), name="api_bulk_list"),
    path("projects/<slug:slug>/bulk/<int:job_id>/", bulk.BulkJobView.as_view(), name="api_bulk"),
    path(
        "projects/<slug:slug>/bulk/<int:job_id>/undo/",
        bulk.BulkUndoView.as_view(),
        name="api_bulk_undo",
    ),
]
