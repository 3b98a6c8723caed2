from django.urls import path

from apps.authors.urls import SITE
from apps.echo.views import experiments, learning, offers

ECHO = f"{SITE}echo/"
OFFERS = f"{SITE}offers/"
EXPERIMENT = f"{OFFERS}experiments/<int:offer_experiment_id>/"

urlpatterns = [
    path(ECHO, learning.site_echo, name="site_echo"),
    path(f"{ECHO}settings/", learning.site_echo_settings, name="site_echo_settings"),
    path(
        f"{ECHO}features/<slug:feature_key>/", learning.site_echo_feature, name="site_echo_feature"
    ),
    path(OFFERS, offers.site_offers, name="site_offers"),
    path(f"{OFFERS}switch/", offers.site_offers_switch, name="site_offers_switch"),
    path(f"{OFFERS}settings/", offers.site_offers_settings, name="site_offers_settings"),
    path(f"{OFFERS}catalogue/", offers.site_catalogue, name="site_catalogue"),
    path(f"{OFFERS}catalogue/import/", offers.catalogue_import, name="catalogue_import"),
    path(f"{OFFERS}catalogue/sample.csv", offers.catalogue_sample, name="catalogue_sample"),
    path(f"{OFFERS}catalogue/try/", offers.catalogue_try, name="catalogue_try"),
    path(
        f"{OFFERS}catalogue/<int:catalogue_item_id>/switch/",
        offers.catalogue_item_switch,
        name="catalogue_item_switch",
    ),
    path(f"{OFFERS}experiments/", experiments.offer_experiment_list, name="offer_experiment_list"),
    path(
        f"{OFFERS}experiments/new/",
        experiments.offer_experiment_create,
        name="offer_experiment_create",
    ),
    path(EXPERIMENT, experiments.offer_experiment_detail, name="offer_experiment_detail"),
    path(
        f"{EXPERIMENT}change/",
        experiments.offer_experiment_change,
        name="offer_experiment_change",
    ),
]
