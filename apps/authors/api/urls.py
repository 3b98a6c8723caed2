"""REST addresses of sites."""

from apps.authors.api import messages, records, server, sites
from apps.common.api.viewsets import Router

SITE = "sites/<slug:public_key>"
AUTHOR = f"{SITE}/authors"

router = Router()
router.register("projects/<slug:slug>/sites", sites.SitesViewSet, "api_sites")
router.register(SITE, sites.OneSiteViewSet, "api_site")
router.register(f"{SITE}/keys", sites.KeyViewSet, "api_site_key")
router.register(f"{SITE}/features", sites.FeaturesViewSet, "api_site_features")
router.register(f"{SITE}/messages", messages.MessagesViewSet, "api_site_messages")
router.register(f"{SITE}/answers", records.AnswersViewSet, "api_site_answers")
router.register(f"{SITE}/rewards", records.RewardsViewSet, "api_site_rewards")
router.register(f"{SITE}/payouts", records.PayoutViewSet, "api_site_payout")
router.register(f"{AUTHOR}/<uuid:uid>/ruling", records.RulingViewSet, "api_site_author_ruling")
# The host's own ids may hold a slash.
router.register(f"{AUTHOR}/<path:subject>/optout", server.OptOutViewSet, "api_site_optout")
router.register(f"{AUTHOR}/<path:subject>", server.AuthorViewSet, "api_site_author")
router.register(f"{SITE}/questions", server.TurnViewSet, "api_site_questions")
router.register(f"{SITE}/questions", server.QuestionViewSet, "api_site_question")
urlpatterns = router.urls
