"""REST addresses of runs."""

from django.urls import path

from apps.debates.api import prompts, routing, views

urlpatterns = [
    path("projects/<slug:slug>/runs/", views.RunList.as_view(), name="api_run_list"),
    path("runs/<int:run_id>/", views.RunDetail.as_view(), name="api_run"),
    path("runs/<int:run_id>/debates/", views.RunDebates.as_view(), name="api_run_debates"),
    path(
        "runs/<int:run_id>/transcripts/", views.RunTranscripts.as_view(), name="api_run_transcripts"
    ),
    path("runs/<int:run_id>/pause/", views.RunPause.as_view(), name="api_run_pause"),
    path("runs/<int:run_id>/resume/", views.RunResume.as_view(), name="api_run_resume"),
    path("runs/<int:run_id>/cancel/", views.RunCancel.as_view(), name="api_run_cancel"),
    path("debates/<int:debate_id>/", views.DebateDetail.as_view(), name="api_debate"),
    path("projects/<slug:slug>/routing/", routing.RoutingView.as_view(), name="api_routing"),
    path("projects/<slug:slug>/prompts/", prompts.PromptList.as_view(), name="api_prompts"),
]
