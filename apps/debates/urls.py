"""Addresses of the pages of runs and debates."""

from django.urls import path

from apps.debates.views import prompts, routing, runs

urlpatterns = [
    path("p/<slug:slug>/runs/", runs.run_list, name="run_list"),
    path("p/<slug:slug>/runs/new/", runs.run_create, name="run_create"),
    path("p/<slug:slug>/runs/parts/", runs.run_parts, name="run_parts"),
    path("p/<slug:slug>/runs/preview/", runs.run_preview, name="run_preview"),
    path("p/<slug:slug>/runs/<int:run_id>/", runs.run_detail, name="run_detail"),
    path(
        "p/<slug:slug>/runs/<int:run_id>/transcripts/", runs.run_transcripts, name="run_transcripts"
    ),
    path("p/<slug:slug>/runs/<int:run_id>/progress/", runs.run_progress, name="run_progress"),
    path("p/<slug:slug>/runs/<int:run_id>/troubles/", runs.run_troubles, name="run_troubles"),
    path("p/<slug:slug>/runs/<int:run_id>/budget/", runs.run_budget, name="run_budget"),
    path("p/<slug:slug>/runs/<int:run_id>/pause/", runs.run_pause, name="run_pause"),
    path("p/<slug:slug>/runs/<int:run_id>/resume/", runs.run_resume, name="run_resume"),
    path("p/<slug:slug>/runs/<int:run_id>/cancel/", runs.run_cancel, name="run_cancel"),
    path("p/<slug:slug>/debates/<int:debate_id>/", runs.debate_detail, name="debate_detail"),
    path("p/<slug:slug>/debates/<int:debate_id>/calls/", runs.debate_calls, name="debate_calls"),
    path("p/<slug:slug>/routing/", routing.routing_rule, name="routing_rule"),
    path("p/<slug:slug>/routing/preview/", routing.routing_preview, name="routing_preview"),
    path("p/<slug:slug>/prompts/", prompts.prompt_list, name="prompt_list"),
    path("p/<slug:slug>/prompts/<slug:key>/", prompts.prompt_detail, name="prompt_detail"),
    path(
        "p/<slug:slug>/prompts/<slug:key>/rendered/",
        prompts.prompt_rendered,
        name="prompt_rendered",
    ),
    path("p/<slug:slug>/prompts/<slug:key>/diff/", prompts.prompt_diff, name="prompt_diff"),
    path(
        "p/<slug:slug>/prompts/<slug:key>/variant/", prompts.variant_create, name="variant_create"
    ),
    path("p/<slug:slug>/variants/<int:pk>/retire/", prompts.variant_retire, name="variant_retire"),
    path("p/<slug:slug>/variants/<int:pk>/try/", prompts.prompt_try, name="prompt_try"),
    path(
        "p/<slug:slug>/variants/<int:pk>/try/preview/",
        prompts.prompt_try_preview,
        name="prompt_try_preview",
    ),
    path("p/<slug:slug>/trials/<int:run_id>/", prompts.prompt_trial, name="prompt_trial"),
    path(
        "p/<slug:slug>/trials/<int:run_id>/part/",
        prompts.prompt_trial_part,
        name="prompt_trial_part",
    ),
]
