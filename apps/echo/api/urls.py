"""REST paths of a site's Echo."""

from django.urls import path

from apps.echo.api import catalogue, downstream, experiments, records, reports, searches, settings

ECHO = "sites/<slug:public_key>/echo/"
SELECTION = f"{ECHO}selections/<uuid:selection_uid>/"
EXPERIMENT = f"{ECHO}experiments/<int:echo_experiment_id>/"

urlpatterns = [
    path(ECHO, settings.EchoView.as_view(), name="api_echo"),
    path(f"{ECHO}priors/", settings.PriorsView.as_view(), name="api_echo_priors"),
    path(f"{ECHO}freeze/", settings.FreezeView.as_view(), name="api_echo_freeze"),
    path(f"{ECHO}thaw/", settings.ThawView.as_view(), name="api_echo_thaw"),
    path(f"{ECHO}features/", records.FeatureSummariesView.as_view(), name="api_echo_features"),
    path(
        f"{ECHO}features/<slug:feature_key>/instruction/",
        searches.InstructionView.as_view(),
        name="api_echo_instruction",
    ),
    path(f"{ECHO}searches/", searches.SearchesView.as_view(), name="api_echo_searches"),
    path(f"{ECHO}decisions/", records.DecisionsView.as_view(), name="api_echo_decisions"),
    path(f"{ECHO}catalogue/", catalogue.CatalogueView.as_view(), name="api_echo_catalogue"),
    # The site's own ids may hold a slash.
    path(
        f"{ECHO}catalogue/<path:ref>/", catalogue.CatalogueItemView.as_view(), name="api_echo_item"
    ),
    path(f"{ECHO}experiments/", experiments.ExperimentsView.as_view(), name="api_echo_experiments"),
    path(EXPERIMENT, experiments.ExperimentView.as_view(), name="api_echo_experiment"),
    path(f"{EXPERIMENT}start/", experiments.StartView.as_view(), name="api_echo_experiment_start"),
    path(f"{EXPERIMENT}end/", experiments.EndView.as_view(), name="api_echo_experiment_end"),
    path(
        f"{EXPERIMENT}report/",
        reports.ExperimentReportView.as_view(),
        name="api_echo_experiment_report",
    ),
    path(f"{ECHO}report/", reports.OfferReportView.as_view(), name="api_echo_report"),
    path(f"{ECHO}off-policy/", reports.OffPolicyView.as_view(), name="api_echo_off_policy"),
    path(f"{ECHO}messages/", downstream.EchoMessagesView.as_view(), name="api_echo_messages"),
    path(f"{ECHO}selections/", records.SelectionsView.as_view(), name="api_echo_selections"),
    path(SELECTION, downstream.SelectionView.as_view(), name="api_echo_selection"),
    path(f"{SELECTION}rewards/", downstream.RewardsView.as_view(), name="api_echo_rewards"),
    path(f"{ECHO}offers/", downstream.OfferView.as_view(), name="api_echo_offer"),
    path(
        f"{ECHO}offers/<uuid:offer_uid>/events/",
        downstream.OfferEventsView.as_view(),
        name="api_echo_offer_events",
    ),
]
