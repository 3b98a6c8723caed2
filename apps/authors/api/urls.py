"""REST paths of sites."""

from django.urls import path

from apps.authors.api import messages, records, server, sites

SITE = "sites/<slug:public_key>/"
QUESTION = f"{SITE}questions/<str:qid>/"
AUTHOR = f"{SITE}authors/"

urlpatterns = [
    path("projects/<slug:slug>/sites/", sites.SitesView.as_view(), name="api_sites"),
    path(SITE, sites.SiteView.as_view(), name="api_site"),
    path(f"{SITE}keys/", sites.KeysView.as_view(), name="api_site_keys"),
    path(f"{SITE}keys/<slug:kid>/", sites.KeyView.as_view(), name="api_site_key"),
    path(f"{SITE}features/", sites.FeaturesView.as_view(), name="api_site_features"),
    path(f"{SITE}consent/", sites.ConsentView.as_view(), name="api_site_consent"),
    path(f"{SITE}messages/", messages.MessagesView.as_view(), name="api_site_messages"),
    path(f"{SITE}answers/", records.AnswersView.as_view(), name="api_site_answers"),
    path(f"{SITE}rewards/", records.RewardsView.as_view(), name="api_site_rewards"),
    path(f"{SITE}payouts/", records.PayoutsView.as_view(), name="api_site_payouts"),
    path(f"{SITE}payouts/<int:payout_id>/", records.PayoutView.as_view(), name="api_site_payout"),
    path(
        f"{AUTHOR}<uuid:uid>/ruling/", records.RulingView.as_view(), name="api_site_author_ruling"
    ),
    # The host's own ids may hold a slash.
    path(f"{AUTHOR}<path:subject>/optout/", server.OptOutView.as_view(), name="api_site_optout"),
    path(f"{AUTHOR}<path:subject>/", server.AuthorView.as_view(), name="api_site_author"),
    path(f"{SITE}questions/", server.TurnView.as_view(), name="api_site_questions"),
    path(f"{QUESTION}shown/", server.ShownView.as_view(), name="api_site_question_shown"),
    path(f"{QUESTION}answer/", server.AnswerView.as_view(), name="api_site_question_answer"),
    path(f"{QUESTION}dismiss/", server.DismissView.as_view(), name="api_site_question_dismiss"),
    path(f"{QUESTION}undo/", server.UndoView.as_view(), name="api_site_question_undo"),
]
