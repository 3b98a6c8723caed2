"""Who may do what at each address: the table that the access test holds the server to.

A new address must be entered here before the suite passes again. A method that a row leaves out
is not offered at all (405). ``absent`` marks methods that may answer 404 to those allowed, because
what they act on is not in the test's world.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """Who passes; each from VIEW on includes the next. MAKE_ACCOUNTS wants a role and a permission:
    the test's plain manager has only the one, its other_manager here only the other."""

    EVERYBODY = "everybody"
    SIGNED_IN = "signed in"
    OWN = "own things of whoever is signed in"
    VIEW = "members"
    REVIEW = "reviewers and managers"
    MANAGE = "managers"
    MAKE_ACCOUNTS = "managers whom an operator allowed to make accounts"
    OPERATE = "operators"
    SERVER = "a site's own servers, by server key; no person"


@dataclass(frozen=True)
class Row:
    """The levels of one address's methods."""

    levels: dict[str, Level] = field(default_factory=dict)
    absent: tuple[str, ...] = ()


def row(*, absent: tuple[str, ...] = (), **levels: Level) -> Row:
    """``row(GET=Level.VIEW, POST=Level.MANAGE)``."""
    return Row(levels, absent)


EVERYBODY, SIGNED_IN, OWN, VIEW, REVIEW, MANAGE, MAKE_ACCOUNTS, OPERATE, SERVER = Level

READ = row(GET=VIEW)
READ_AND_CHANGE = row(GET=VIEW, POST=MANAGE)
MANAGER_PAGE = row(GET=MANAGE, POST=MANAGE)
CHANGE = row(POST=MANAGE)
LABEL = row(POST=REVIEW)
OPERATOR_PAGE = row(GET=OPERATE, POST=OPERATE)
FROM_SERVER = row(POST=SERVER)

PAGES = {
    "home": row(GET=SIGNED_IN),
    "health_live": row(GET=EVERYBODY),
    "health_ready": row(GET=EVERYBODY),
    "set_theme": row(POST=EVERYBODY),
    "design_system": row(GET=SIGNED_IN),
    "api_docs": row(GET=EVERYBODY),
    "api_schema": row(GET=EVERYBODY),
    "api_keys": row(GET=SIGNED_IN, POST=SIGNED_IN),
    "api_key_revoke": row(POST=OWN),
    "project_create": row(GET=SIGNED_IN, POST=SIGNED_IN),
    "table_audit": row(GET=SIGNED_IN, POST=SIGNED_IN),
    "project_overview": READ,
    "project_setup": row(GET=MANAGE),
    "project_schema": READ_AND_CHANGE,
    "project_guideline": READ_AND_CHANGE,
    "project_people": row(GET=MANAGE),
    "member_add": CHANGE,
    "member_create": row(POST=MAKE_ACCOUNTS),
    "member_change": CHANGE,
    "member_remove": CHANGE,
    "project_settings": MANAGER_PAGE,
    "project_delete": CHANGE,
    "item_list": READ,
    "item_detail": READ,
    "import_create": MANAGER_PAGE,
    "import_detail": MANAGER_PAGE,
    "import_progress": row(GET=MANAGE),
    "export_page": READ,
    "export_download": READ,
    "run_list": READ,
    "run_create": MANAGER_PAGE,
    "run_parts": row(GET=MANAGE),
    "run_preview": row(GET=MANAGE),
    "run_detail": READ,
    "run_progress": READ,
    "run_troubles": READ,
    "run_budget": MANAGER_PAGE,
    "run_transcripts": READ,
    "run_pause": CHANGE,
    "run_resume": CHANGE,
    "run_cancel": CHANGE,
    "run_debate_list": READ,
    "debate_detail": READ,
    "debate_calls": READ,
    "routing_rule": READ_AND_CHANGE,
    "routing_preview": row(GET=MANAGE),
    "prompt_list": READ,
    "prompt_detail": row(GET=VIEW, absent=("GET",)),
    "prompt_rendered": row(GET=VIEW, absent=("GET",)),
    "prompt_diff": row(GET=VIEW, absent=("GET",)),
    "variant_create": row(GET=MANAGE, POST=MANAGE, absent=("GET", "POST")),
    "variant_retire": row(POST=MANAGE, absent=("POST",)),
    "prompt_try": row(GET=MANAGE, POST=MANAGE, absent=("GET", "POST")),
    "prompt_try_preview": row(GET=MANAGE, absent=("GET",)),
    "prompt_trial": row(GET=VIEW, absent=("GET",)),
    "prompt_trial_part": row(GET=VIEW, absent=("GET",)),
    "review": row(GET=REVIEW),
    "review_next": LABEL,
    "review_submit": row(POST=REVIEW, absent=("POST",)),
    "review_skip": row(POST=REVIEW, absent=("POST",)),
    "review_undo": row(POST=REVIEW, absent=("POST",)),
    "review_renew": row(POST=REVIEW, absent=("POST",)),
    "review_release": row(POST=REVIEW, absent=("POST",)),
    "review_unskip": row(POST=REVIEW, absent=("POST",)),
    "review_status": row(GET=REVIEW),
    "review_debate": row(GET=REVIEW, absent=("GET",)),
    "review_plan": MANAGER_PAGE,
    "site_list": READ,
    "site_create": MANAGER_PAGE,
    "site_overview": READ,
    "site_live": row(GET=MANAGE),
    "site_live_rows": row(GET=MANAGE),
    "site_install": row(GET=MANAGE),
    "site_allow_here": CHANGE,
    "site_key_add": CHANGE,
    "site_key_revoke": CHANGE,
    "site_preview": row(GET=MANAGE),
    "site_console": MANAGER_PAGE,
    "site_questions": row(GET=MANAGE),
    "feature_add": CHANGE,
    "feature_create": MANAGER_PAGE,
    "feature_edit": MANAGER_PAGE,
    "feature_change": CHANGE,
    "site_authors": row(GET=MANAGE),
    "site_author": row(GET=MANAGE),
    "author_rule": CHANGE,
    "author_erase": CHANGE,
    "site_rewards": row(GET=MANAGE),
    "site_pay": CHANGE,
    "site_payout": row(GET=MANAGE),
    "site_settings": MANAGER_PAGE,
    "site_consent": CHANGE,
    "site_delete": CHANGE,
    "agreement": READ,
    "agreement_over_time": READ,
    "agreement_annotators": READ,
    "agreement_figure": row(GET=VIEW, absent=("GET",)),
    "agreement_file": READ,
    "agreement_items": READ,
    "evaluation": READ,
    "evaluation_items": row(GET=VIEW, absent=("GET",)),
    "automation": READ_AND_CHANGE,
    "experiment_list": READ,
    "experiment_create": MANAGER_PAGE,
    "experiment_preview": row(GET=MANAGE),
    "experiment_detail": READ,
    "experiment_progress": READ,
    "experiment_debates": READ,
    "experiment_use": MANAGER_PAGE,
    "predictivity": READ_AND_CHANGE,
    "predictivity_figure": row(GET=VIEW, absent=("GET",)),
    "predictivity_preview": row(GET=MANAGE),
    "predictivity_progress": READ,
    "predictivity_steer": CHANGE,
    "provider_list": row(GET=OPERATE),
    "provider_create": OPERATOR_PAGE,
    "provider_edit": OPERATOR_PAGE,
    "provider_check": row(POST=OPERATE),
    "model_create": OPERATOR_PAGE,
    "model_edit": OPERATOR_PAGE,
    "model_forget": row(POST=OPERATE),
    # Where no demo was made there are none.
    "demo_shop": row(GET=EVERYBODY, absent=("GET",)),
    "demo_chat": row(GET=EVERYBODY, absent=("GET",)),
    # What pages of other sites load.
    "widget_script": row(GET=EVERYBODY),
    "widget_file": row(GET=EVERYBODY),
    "widget_config": row(GET=EVERYBODY),
}

REST = {
    "api_projects": row(GET=SIGNED_IN, POST=SIGNED_IN),
    "api_project": row(GET=VIEW, PATCH=MANAGE, DELETE=MANAGE),
    "api_members": row(GET=MANAGE, POST=MANAGE, DELETE=MANAGE),
    "api_plan": row(GET=VIEW, PATCH=MANAGE),
    "api_import": CHANGE,
    "api_import_detail": row(GET=MANAGE, absent=("GET",)),
    "api_export": READ,
    "api_items": READ,
    "api_item": READ,
    "api_next": LABEL,
    "api_lease": row(POST=REVIEW, DELETE=REVIEW, absent=("POST", "DELETE")),
    "api_labels": row(GET=VIEW, POST=REVIEW),
    "api_run_list": READ_AND_CHANGE,
    "api_run": READ,
    "api_run_debates": READ,
    "api_run_transcripts": READ,
    "api_run_pause": CHANGE,
    "api_run_resume": CHANGE,
    "api_run_cancel": CHANGE,
    "api_debate": READ,
    "api_routing": row(GET=VIEW, PUT=MANAGE),
    "api_prompts": READ,
    "api_gold": READ,
    "api_agreement": READ,
    "api_evaluation": READ,
    "api_automation": row(GET=VIEW, POST=MANAGE, DELETE=MANAGE),
    "api_audit_table": row(POST=SIGNED_IN),
    "api_audit_tests": row(POST=SIGNED_IN),
    "api_experiment_list": READ_AND_CHANGE,
    "api_experiment": READ,
    "api_predictivity": READ_AND_CHANGE,
    "api_predictivity_pause": row(POST=MANAGE, absent=("POST",)),
    "api_predictivity_resume": row(POST=MANAGE, absent=("POST",)),
    "api_predictivity_cancel": row(POST=MANAGE, absent=("POST",)),
    "api_model_list": row(GET=SIGNED_IN),
    "api_sites": READ_AND_CHANGE,
    "api_site": row(GET=VIEW, PATCH=MANAGE, DELETE=MANAGE),
    "api_site_keys": CHANGE,
    "api_site_key": row(DELETE=MANAGE),
    "api_site_features": row(GET=VIEW, PUT=MANAGE),
    "api_site_consent": row(PUT=MANAGE),
    "api_site_messages": row(GET=MANAGE, POST=SERVER),
    "api_site_answers": row(GET=MANAGE),
    "api_site_rewards": row(GET=MANAGE),
    "api_site_payouts": MANAGER_PAGE,
    "api_site_payout": row(GET=MANAGE),
    "api_site_author_ruling": CHANGE,
    "api_site_author": row(GET=SERVER, DELETE=SERVER),
    "api_site_optout": FROM_SERVER,
    "api_site_questions": row(GET=SERVER),
    "api_site_question_shown": FROM_SERVER,
    "api_site_question_answer": FROM_SERVER,
    "api_site_question_dismiss": FROM_SERVER,
    "api_site_question_undo": FROM_SERVER,
}

# allauth's pages hold no project data; it decides itself what a method does there.
ACCOUNT_PAGES = {
    "account_login": EVERYBODY,
    "account_logout": EVERYBODY,
    "account_inactive": EVERYBODY,
    "account_signup": EVERYBODY,
    "account_reset_password": EVERYBODY,
    "account_reset_password_done": EVERYBODY,
    "account_reset_password_from_key": EVERYBODY,
    "account_reset_password_from_key_done": EVERYBODY,
    "account_reauthenticate": SIGNED_IN,
    "account_change_password": SIGNED_IN,
    "account_set_password": SIGNED_IN,
}

# Asked for something of another project, these answer as for something that is nowhere, not by 404.
SILENT = {"api_lease", "review_debate"}
