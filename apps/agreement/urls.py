"""Pages of agreement, evaluation and experiments."""

from django.urls import path

from apps.agreement.views import automation, evaluation, experiments, report

ONE = "p/<slug:slug>/experiments/<int:experiment_id>/"

urlpatterns = [
    path("p/<slug:slug>/evaluation/", evaluation.evaluation, name="evaluation"),
    path("p/<slug:slug>/evaluation/items/", evaluation.evaluation_items, name="evaluation_items"),
    path("p/<slug:slug>/agreement/", report.agreement, name="agreement"),
    path(
        "p/<slug:slug>/agreement/details/<slug:tab>/",
        report.agreement_detail,
        name="agreement_detail",
    ),
    path(
        "p/<slug:slug>/agreement/figures/<slug:picture>.<slug:form>",
        report.agreement_figure,
        name="agreement_figure",
    ),
    path(
        "p/<slug:slug>/agreement/items/",
        report.agreement_items,
        name="agreement_items",
    ),
    path("p/<slug:slug>/agreement/report.html", report.agreement_file, name="agreement_file"),
    path("p/<slug:slug>/automation/", automation.automation, name="automation"),
    path("p/<slug:slug>/experiments/", experiments.experiment_list, name="experiment_list"),
    path("p/<slug:slug>/experiments/new/", experiments.experiment_create, name="experiment_create"),
    path(
        "p/<slug:slug>/experiments/preview/",
        experiments.experiment_preview,
        name="experiment_preview",
    ),
    path(ONE, experiments.experiment_detail, name="experiment_detail"),
    path(f"{ONE}progress/", experiments.experiment_progress, name="experiment_progress"),
    path(f"{ONE}debates/", experiments.experiment_debates, name="experiment_debates"),
    path(f"{ONE}use/<int:run_id>/", experiments.experiment_use, name="experiment_use"),
]
