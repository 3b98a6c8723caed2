"""REST addresses of a site's Echo."""

from apps.common.api.viewsets import Router
from apps.echo.api import catalogue, downstream, experiments, learning

ECHO = "sites/<slug:public_key>/echo"

router = Router()
router.register(ECHO, learning.EchoViewSet, "api_site_echo")
router.register(f"{ECHO}/features", learning.FeatureViewSet, "api_site_echo_feature")
router.register(f"{ECHO}/decisions", learning.DecisionsViewSet, "api_site_echo_decisions")
router.register(f"{ECHO}/catalogue", catalogue.CatalogueViewSet, "api_site_echo_catalogue")
# The site's own ids may hold a slash.
router.register(
    f"{ECHO}/catalogue/<path:ref>", catalogue.CatalogueItemViewSet, "api_site_echo_item"
)
router.register(f"{ECHO}/experiments", experiments.ExperimentViewSet, "api_site_echo_experiment")
router.register(f"{ECHO}/messages", downstream.EchoMessageViewSet, "api_site_echo_message")
router.register(f"{ECHO}/selections", learning.SelectionsViewSet, "api_site_echo_selections")
router.register(f"{ECHO}/selections", downstream.SelectionViewSet, "api_site_echo_selection")
router.register(f"{ECHO}/offers", downstream.OfferViewSet, "api_site_echo_offer")
router.register(
    f"{ECHO}/offers/<uuid:offer_uid>/events",
    downstream.OfferEventViewSet,
    "api_site_echo_offer_events",
)
urlpatterns = router.urls
