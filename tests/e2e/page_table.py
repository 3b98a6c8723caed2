"""Which pages there are, in which states: looked at by the accessibility tests and the camera."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.e2e.server import DEMO

#: Parts of pages, files, addresses that only take a form, and pages that libraries draw.
NOT_PAGES = {
    "adjudication_debates", "adjudication_decide", "adjudication_next", "adjudication_return",
    "adjudication_skip", "adjudication_undo", "comment_people", "comment_resolve",
    "comments_seen", "item_comments",
    "account_inactive", "account_set_password",
    "api_docs", "api_key_revoke", "api_redoc", "api_schema",
    "agreement_annotators", "agreement_figure", "agreement_file", "agreement_over_time",
    "experiment_preview", "experiment_progress", "export_download", "health_live",
    "health_ready", "import_progress", "member_add", "member_change", "member_create",
    "member_remove", "model_forget", "project_delete", "project_preview", "provider_check",
    "bulk_progress", "bulk_undo", "filter_delete", "filter_first",
    "review_debate", "review_draft", "review_next", "review_postpone", "review_revoke",
    "review_screen", "review_release", "review_renew", "review_skip",
    "routing_preview", "review_status", "review_submit", "review_undo", "review_unskip",
    "review_take_back",
    "run_budget", "run_cancel", "run_parts", "run_pause", "run_preview", "run_progress",
    "run_resume", "run_transcripts", "run_troubles", "set_theme", "prompt_rendered",
    "prompt_trial_part", "prompt_try_preview", "variant_retire", "author_erase", "author_rule",
    "feature_add", "feature_change", "site_allow_here", "site_consent", "site_delete",
    "site_echo_feature_parts", "site_echo_instruction", "site_echo_parts", "site_echo_settings",
    "catalogue_item_switch", "catalogue_sample", "offer_experiment_change",
    "offer_experiment_parts", "site_offers_rows", "site_offers_switch",
    "site_key_add", "site_key_revoke", "site_live_rows", "site_pay", "site_payout", "widget_config",
    "widget_file", "widget_script", "learning_progress",
    "quality_pause", "quality_requeue_progress", "quality_resume",
    "saved_create", "saved_delete", "saved_file", "saved_manifest", "saved_verify",
    "webhook_delete", "webhook_deliveries", "webhook_ping", "webhook_replay", "webhook_secret",
    "webhook_switch",
}  # fmt: skip


@dataclass(frozen=True)
class View:
    """A page in one state: whose URL name it is, who looks, at which address."""

    name: str
    who: str | None
    address: str
    state: str = ""
    status: int = 200

    @property
    def id(self) -> str:
        """For test names and files."""
        return f"{self.name}-{self.state}" if self.state else self.name

    def at(self, places: Mapping[str, Any]) -> str:
        """The address with its ids filled in."""
        return self.address.format(**places)


IN_DEMO = f"/p/{DEMO}"
OFFERS = "/p/shop-talk/sites/{demo_site}/offers/"
SITE, SILENT_SITE = "/p/asked-shop/sites/{site}/", "/p/asked-shop/sites/{silent_site}/"

VIEWS = (
    View("account_login", None, "/accounts/login/"),
    View("account_signup", None, "/accounts/signup/"),
    View("account_reset_password", None, "/accounts/password/reset/"),
    View("account_reset_password_done", None, "/accounts/password/reset/done/"),
    View("account_reset_password_from_key", None, "{reset}"),
    View("account_reset_password_from_key_done", None, "/accounts/password/reset/key/done/"),
    View("account_change_password", "manager", "/accounts/password/change/"),
    View("account_reauthenticate", "manager", "/accounts/reauthenticate/"),
    View("account_logout", "manager", "/accounts/logout/"),
    View("home", "manager", "/"),
    View("project_create", "manager", "/projects/new/"),
    View("project_create", "manager", "/projects/new/?template=toxicity", "template"),
    View("project_from_config", "manager", "/projects/new/from/"),
    View("project_overview", "manager", IN_DEMO + "/"),
    View("project_overview", "manager", "/p/{empty}/", "empty"),
    View("project_setup", "manager", IN_DEMO + "/setup/"),
    View("project_schema", "manager", IN_DEMO + "/labels/"),
    View("labels_change", "manager", IN_DEMO + "/labels/change/"),
    View("labels_change_detail", "manager", "{renamed}"),
    View("project_guideline", "manager", IN_DEMO + "/guideline/"),
    View("project_people", "manager", IN_DEMO + "/people/"),
    View("project_settings", "manager", IN_DEMO + "/settings/"),
    View("import_create", "manager", IN_DEMO + "/import/"),
    View("import_detail", "manager", "/p/{empty}/import/{columns}/", "columns"),
    View("import_detail", "manager", IN_DEMO + "/import/{imported}/", "result"),
    View("import_detail", "manager", "/p/{single}/import/{faulty}/", "faults"),
    View("item_list", "manager", IN_DEMO + "/items/"),
    View("item_list", "manager", IN_DEMO + "/items/?view=cards&kind=llm&q=room", "cards"),
    View("item_list", "manager", IN_DEMO + "/items/?learned_min=2", "wrong", status=422),
    View("bulk_new", "manager", IN_DEMO + "/bulk/new/?do=accept"),
    View("bulk_list", "manager", "/p/{single}/bulk/"),
    View("bulk_detail", "manager", "{bulk}"),
    View("filter_list", "manager", "/p/{single}/filters/"),
    View("item_detail", "manager", IN_DEMO + "/items/{item}/"),
    View("run_list", "manager", IN_DEMO + "/runs/"),
    View("run_create", "manager", IN_DEMO + "/runs/new/"),
    View("run_create", "manager", "/p/{single}/runs/new/?protocol=courtroom", "courtroom"),
    View("run_detail", "manager", IN_DEMO + "/runs/{run}/"),
    View("run_detail", "manager", "/p/{going}/runs/{live}/", "live"),
    View("run_detail", "manager", IN_DEMO + "/runs/{run}/?changed=yes", "filtered"),
    View("debate_detail", "manager", IN_DEMO + "/debates/{debate}/"),
    View("debate_calls", "manager", IN_DEMO + "/debates/{debate}/calls/"),
    View("prompt_list", "manager", IN_DEMO + "/prompts/"),
    View("prompt_detail", "manager", IN_DEMO + "/prompts/ecj-critic/"),
    View("prompt_diff", "manager", "{variant_diff}"),
    View("variant_create", "manager", IN_DEMO + "/prompts/ecj-critic/variant/"),
    View("prompt_try", "manager", "/p/{audited}/variants/{variant_id}/try/"),
    View("prompt_trial", "manager", "{trial}"),
    View("review", "manager", IN_DEMO + "/review/"),
    View("review", "manager", "/p/{empty}/review/", "empty"),
    View("review", "manager", "/p/{single}/review/", "single"),
    View("review", "manager", "/p/{text}/review/", "text"),
    View("review", "manager", "/p/{per_item}/review/", "per-item"),
    View("review", "reviewer", "/p/{done}/review/", "done"),
    View("adjudication", "manager", "/p/{fought}/adjudication/"),
    View("adjudication_item", "manager", "/p/{fought}/adjudication/{fought_item}/"),
    View("adjudication_item", "manager", "/p/fought-sets/adjudication/{fought_set}/", "sets"),
    View("comment_list", "manager", "/p/{fought}/comments/"),
    View("review_plan", "manager", IN_DEMO + "/review/plan/"),
    View("project_work", "manager", IN_DEMO + "/workload/"),
    View("my_work", "manager", "/p/{fought}/mine/", "answered"),
    View("review_leases", "manager", IN_DEMO + "/review/leases/"),
    View("review_keys", "reviewer", "/settings/keys/"),
    View("quality", "manager", IN_DEMO + "/quality/"),
    View("quality_person", "manager", IN_DEMO + "/quality/{person}/"),
    View("quality_requeue", "manager", IN_DEMO + "/quality/{person}/requeue/"),
    View("routing_rule", "manager", IN_DEMO + "/routing/"),
    View("routing_rule", "manager", "/p/{empty}/routing/", "empty"),
    View("routing_rule", "manager", "/p/{audited}/routing/?audit=10&capacity=30", "trying"),
    View("evaluation", "manager", IN_DEMO + "/evaluation/"),
    View("evaluation", "manager", "/p/{empty}/evaluation/", "empty"),
    View("evaluation", "manager", "/p/{ordinal}/evaluation/", "ordinal"),
    View("evaluation_items", "manager", "{cell}"),
    View("agreement", "manager", "/p/library-desk/agreement/"),
    View("agreement_items", "manager", "/p/library-desk/agreement/items/?of=llm&other=crowd"),
    View("agreement", "manager", "/p/{empty}/agreement/", "empty"),
    View("experiment_list", "manager", IN_DEMO + "/experiments/"),
    View("automation", "manager", IN_DEMO + "/automation/"),
    View("learning", "manager", IN_DEMO + "/learning/"),
    View("experiment_create", "manager", IN_DEMO + "/experiments/new/"),
    View("experiment_detail", "manager", IN_DEMO + "/experiments/{tried}/"),
    View("experiment_detail", "manager", "/p/{single}/experiments/{watched}/", "live"),
    View("experiment_debates", "manager", IN_DEMO + "/experiments/{tried}/debates/"),
    View("experiment_use", "manager", IN_DEMO + "/experiments/{tried}/use/{arm}/"),
    View("site_list", "manager", "/p/asked-shop/sites/"),
    View("site_create", "manager", "/p/unasked/sites/new/"),
    View("site_overview", "manager", SITE),
    View("site_overview", "manager", SILENT_SITE, "empty"),
    View("site_live", "manager", SITE + "live/"),
    View("site_install", "manager", SITE + "install/"),
    View("site_preview", "manager", SITE + "preview/"),
    View("site_console", "manager", SITE + "console/"),
    View("site_questions", "manager", SITE + "questions/"),
    View("feature_edit", "manager", SITE + "questions/urgency/edit/"),
    View("feature_create", "manager", SITE + "questions/new/"),
    View("feature_import", "manager", SITE + "questions/import/"),
    View("site_echo", "manager", SITE + "echo/", "off"),
    View("site_echo", "manager", "{site_echo}"),
    View("site_echo_feature", "manager", "{site_echo}features/urgency/"),
    View("site_offers", "manager", SITE + "offers/", "off"),
    View("site_offers", "manager", OFFERS),
    View("site_offers_settings", "manager", OFFERS + "settings/"),
    View("site_catalogue", "manager", OFFERS + "catalogue/"),
    View("catalogue_import", "manager", OFFERS + "catalogue/import/"),
    View("catalogue_try", "manager", OFFERS + "catalogue/try/"),
    View("offer_experiment_list", "manager", OFFERS + "experiments/"),
    View("offer_experiment_create", "manager", OFFERS + "experiments/new/"),
    View("offer_experiment_detail", "manager", "{offer_experiment}"),
    View("site_authors", "manager", SITE + "authors/"),
    View("site_author", "manager", "{site_author}"),
    View("site_rewards", "manager", SITE + "rewards/"),
    View("site_settings", "manager", SITE + "settings/"),
    View("demo_shop", None, "/demo/shop/"),
    View("demo_chat", None, "/demo/chat/"),
    View("export_page", "manager", IN_DEMO + "/export/"),
    View("saved_list", "manager", IN_DEMO + "/export/saved/"),
    View("webhook_list", "manager", IN_DEMO + "/webhooks/"),
    View("webhook_create", "manager", IN_DEMO + "/webhooks/new/"),
    View("webhook_detail", "manager", IN_DEMO + "/webhooks/{hook}/"),
    View("api_keys", "manager", "/keys/"),
    View("provider_list", "operator", "/providers/"),
    View("provider_create", "operator", "/providers/new/"),
    View("provider_edit", "operator", "{provider}"),
    View("model_create", "operator", "{provider}models/new/"),
    View("model_edit", "operator", "{model}"),
    View("design_system", "manager", "/design/"),
    View("not_found", "manager", "/p/no-such-project/", status=404),
    View("forbidden", "viewer", IN_DEMO + "/review/", status=403),
    View("admin", None, "/admin/login/", "login"),
    View("admin", "operator", "/admin/"),
    View("admin", "operator", "/admin/projects/item/", "changelist"),
)
