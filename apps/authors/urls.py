from django.urls import path

from apps.authors.views import authors, dashboard, features, sites, widget

SITE = "p/<slug:slug>/sites/<int:site_id>/"
FEATURE = f"{SITE}questions/<slug:feature_key>/"
AUTHOR = f"{SITE}authors/<uuid:author_uid>/"

urlpatterns = [
    path("widget/v1.js", widget.widget_script, name="widget_script"),
    path("widget/config/<str:public_key>", widget.config, name="widget_config"),
    path("widget/<slug:build>/<path:name>", widget.widget_file, name="widget_file"),
    path("p/<slug:slug>/sites/", sites.site_list, name="site_list"),
    path("p/<slug:slug>/sites/new/", sites.site_create, name="site_create"),
    path(SITE, dashboard.site_overview, name="site_overview"),
    path(f"{SITE}live/", dashboard.site_live, name="site_live"),
    path(f"{SITE}live/rows/", dashboard.site_live_rows, name="site_live_rows"),
    path(f"{SITE}install/", sites.site_install, name="site_install"),
    path(f"{SITE}install/allow-here/", sites.site_allow_here, name="site_allow_here"),
    path(f"{SITE}keys/", sites.site_key_add, name="site_key_add"),
    path(f"{SITE}keys/<str:kid>/revoke/", sites.site_key_revoke, name="site_key_revoke"),
    path(f"{SITE}preview/", sites.site_preview, name="site_preview"),
    path(f"{SITE}console/", dashboard.site_console, name="site_console"),
    path(f"{SITE}questions/", features.site_questions, name="site_questions"),
    path(f"{SITE}questions/add/", features.feature_add, name="feature_add"),
    path(f"{SITE}questions/import/", features.feature_import, name="feature_import"),
    path(f"{SITE}questions/new/", features.feature_create, name="feature_create"),
    path(f"{FEATURE}edit/", features.feature_edit, name="feature_edit"),
    path(f"{FEATURE}change/", features.feature_change, name="feature_change"),
    path(f"{SITE}authors/", authors.site_authors, name="site_authors"),
    path(AUTHOR, authors.site_author, name="site_author"),
    path(f"{AUTHOR}ruling/", authors.author_rule, name="author_rule"),
    path(f"{AUTHOR}erase/", authors.author_erase, name="author_erase"),
    path(f"{SITE}rewards/", authors.site_rewards, name="site_rewards"),
    path(f"{SITE}rewards/pay/", authors.site_pay, name="site_pay"),
    path(f"{SITE}payouts/<int:payout_id>/", authors.site_payout, name="site_payout"),
    path(f"{SITE}settings/", sites.site_settings, name="site_settings"),
    path(f"{SITE}settings/consent/", sites.site_consent, name="site_consent"),
    path(f"{SITE}settings/delete/", sites.site_delete, name="site_delete"),
]
