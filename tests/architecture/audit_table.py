"""What the audit log says of each address that changes something or hands out data.

``RECORDED`` are requests with the action that they record; the test sends them. ``TWINS`` are pages
that call the same service as a REST address of ``RECORDED``. ``ELSEWHERE`` need no entry.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from allauth.usersessions.models import UserSession
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.sessions import end_session, end_sessions
from apps.agreement.automation.guarantee import switch_off
from apps.agreement.models import Guarantee
from apps.authors.models import Author, Reward
from apps.authors.services.rewards import pay_out
from apps.authors.services.sites import set_features
from apps.common.audit import Action
from apps.common.holds import hold, release_hold
from apps.debates.models import Run
from apps.debates.services.prompts.variants import retire_variant
from apps.exchange.models import SavedExport
from apps.exchange.saved import files
from apps.llm.models import Provider
from apps.projects.group_roles import remove_group_role, set_group_role
from apps.projects.models import GroupRole, Project
from apps.reviews.quality.requeue import requeue_labels
from apps.reviews.queue.leases import revoke_leases
from apps.reviews.queue.reviewer_status import pause
from labelhub.core.debate.routing import Rule
from labelhub.core.interview.features import starter_library
from labelhub.core.schema.operations import Rename
from tests.architecture.access_world import World
from tests.factories.authors import answered_by, author_of, site_with_features
from tests.factories.bulk import done, undone
from tests.factories.debates import variant_of
from tests.factories.reviews import answer, claim, reviewer
from tests.factories.schema_changes import begun

Body = Mapping[str, Any] | list[Any]


@dataclass(frozen=True)
class Case:
    """A request: ``METHOD address``, its body, who sends it, and what is to be there before."""

    request: str
    action: Action
    body: Body | Callable[[World], Body] = field(default_factory=dict)
    actor: str = "manager"
    query: str | Callable[[World], str] = ""
    before: Callable[[World], dict[str, Any] | None] = lambda _world: None


def _reviewer(world: World) -> dict[str, Any]:
    return {"user_id": world.people["reviewer"].pk}


def _paused(world: World) -> dict[str, Any]:
    manager, reviewer = world.people["manager"], world.people["reviewer"]
    pause(project=world.project, user=reviewer, by=manager, reason="Rest.")
    return {"user_id": reviewer.pk}


def _run(status: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        Run.objects.filter(pk=world.ids["run_id"]).update(status=status)

    return change


def _with_key(world: World) -> None:
    Provider.objects.filter(pk=world.ids["provider_id"]).update(sealed_key=b"sealed")


def _far(world: World) -> None:
    far = "https://api.example.org/v1"
    Provider.objects.filter(pk=world.ids["provider_id"]).update(base_url=far)


def _file(world: World) -> None:
    """Another case may have deleted it: what is on the disk is not undone."""
    export = SavedExport.objects.get(pk=world.ids["export_id"])
    files.write_file(export.stored_name, [b"rows"], lambda _: None)


def _own_key(world: World) -> dict[str, Any]:
    return {"key_id": world.keys["manager"].pk}


def _shared_provider(world: World) -> dict[str, Any]:
    return dict(world.shared)


REST_CASES = (
    Case("POST api_projects", Action.PROJECT_CREATED,
         {"slug": "new-one", "task": "single", "labels": ["a", "b"]}),
    Case("PATCH api_project", Action.PROJECT_CHANGED, {"name": "Other"}),
    Case("PATCH api_project", Action.GUIDELINE_CHANGED, {"guideline": "Read well."}),
    Case("DELETE api_project", Action.PROJECT_DELETED),
    Case("POST api_members", Action.MEMBER_ADDED,
         lambda world: {"username": world.people["stranger"].username, "role": "viewer"}),
    Case("POST api_members", Action.MEMBER_CHANGED,
         lambda world: {"username": world.people["viewer"].username, "role": "reviewer"}),
    Case("DELETE api_members", Action.MEMBER_REMOVED,
         query=lambda world: f"username={world.people['viewer'].username}"),
    Case("POST api_invitation_list", Action.INVITATION_CREATED, {"role": "reviewer"}),
    Case("DELETE api_invitation", Action.INVITATION_REVOKED),
    Case("POST api_quality_person_pause", Action.REVIEWER_PAUSED, {"reason": "x"},
         before=_reviewer),
    Case("POST api_quality_person_resume", Action.REVIEWER_RESUMED, {"reason": "x"},
         before=_paused),
    Case("PATCH api_plan", Action.PLAN_CHANGED, {"overlap": 2}),
    Case("PATCH api_screen", Action.PLAN_CHANGED, {"ask_confidence": True}),
    Case("POST api_import", Action.IMPORT_STARTED, [{"text": "A new text."}]),
    Case("POST api_label_import", Action.IMPORT_STARTED,
         [{"item_id": "a", "annotator_id": "m", "label": "good"}]),
    Case("PATCH api_project_item", Action.ITEM_CHANGED, {"meta": {"source": "x"}}),
    Case("DELETE api_project_item", Action.ITEM_DELETED, query="labels=delete"),
    Case("POST api_user_list", Action.USER_CREATED, {"username": "new-one"}, actor="operator"),
    Case("PATCH api_user", Action.USER_CHANGED, {"is_active": False}, actor="operator",
         before=_reviewer),
    Case("PATCH api_user", Action.SESSIONS_ENDED, {"is_active": False}, actor="operator",
         before=_reviewer),
    Case("POST api_api_key_list", Action.KEY_CREATED, {"name": "x"}),
    Case("POST api_api_key_rotate", Action.KEY_CREATED, before=_own_key),
    Case("POST api_api_key_rotate", Action.KEY_CHANGED, before=_own_key),
    Case("DELETE api_api_key", Action.KEY_REVOKED, before=_own_key),
    Case("GET api_export", Action.EXPORT_DOWNLOADED, query="format=csv"),
    Case("POST api_saved_export_list", Action.EXPORT_SAVED, {"format": "csv"}),
    Case("GET api_saved_export_file", Action.EXPORT_DOWNLOADED, before=_file),
    Case("DELETE api_saved_export", Action.EXPORT_DELETED),
    Case("DELETE api_archive_import", Action.IMPORT_STOPPED, actor="operator"),
    Case("GET api_run_transcripts", Action.EXPORT_DOWNLOADED),
    Case("POST api_webhook_list", Action.WEBHOOK_CREATED,
         {"url": "https://hooks.example.org/x", "events": ["label.created"]}),
    Case("PATCH api_webhook", Action.WEBHOOK_CHANGED, {"with_text": True}),
    Case("DELETE api_webhook", Action.WEBHOOK_DELETED),
    Case("POST api_webhook_secret", Action.WEBHOOK_SECRET_CHANGED),
    Case("POST api_webhook_replay", Action.WEBHOOK_REPLAYED, {"since": "2026-01-01T00:00:00Z"}),
    Case("POST api_run_list", Action.RUN_STARTED, {"protocol": "single"}),
    Case("POST api_run_pause", Action.RUN_CHANGED),
    Case("POST api_run_resume", Action.RUN_CHANGED, before=_run("paused")),
    Case("POST api_run_cancel", Action.RUN_CHANGED),
    Case("PUT api_routing", Action.ROUTING_CHANGED, {"rule": Rule(audit=0.2).to_json()}),
    Case("POST api_learning", Action.LEARNING_CHANGED, {"on": True}),
    Case("POST api_provider_list", Action.PROVIDER_CREATED,
         {"kind": "openai", "name": "New", "base_url": "https://api.example.org/v1"}),
    Case("POST api_provider_list", Action.PROVIDER_KEY_SET,
         {"kind": "openai", "name": "New", "base_url": "https://api.example.org/v1", "key": "k1"}),
    Case("PATCH api_provider", Action.PROVIDER_CHANGED, {"name": "Other"}, before=_far),
    Case("PATCH api_provider", Action.MODEL_CREATED, {"models": [{"name": "new"}]}, before=_far),
    Case("DELETE api_provider", Action.PROVIDER_REMOVED),
    Case("DELETE api_provider_key", Action.PROVIDER_KEY_REMOVED, before=_with_key),
    Case("PATCH api_site", Action.SITE_CHANGED, {"name": "Other"}),
    Case("DELETE api_site", Action.SITE_DELETED),
    Case("POST api_site_key_list", Action.SITE_KEY_CREATED, {"purpose": "server"}),
    Case("DELETE api_site_key", Action.SITE_KEY_REVOKED),
    Case("PUT api_site_consent", Action.CONSENT_CHANGED, {"texts": {"en": "May we?"}}),
    Case("POST api_site_author_ruling", Action.AUTHOR_RULED, {"trusted": False, "reason": "x"}),
    Case("GET api_site_author", Action.AUTHOR_EXPORTED, actor="server"),
    Case("DELETE api_site_author", Action.AUTHOR_ERASED, actor="server"),
    Case("PATCH api_site_echo", Action.ECHO_CHANGED, {"k": 2}),
    Case("PUT api_site_echo_priors", Action.ECHO_CHANGED, {"priors": {"urgency": 0.4}}),
    Case("POST api_site_echo_freeze", Action.ECHO_CHANGED),
    Case("PATCH api_site_echo_item", Action.CATALOGUE_CHANGED, {"active": False}),
    Case("POST api_site_echo_experiment_start", Action.EXPERIMENT_CHANGED),
)  # fmt: skip
PAGE_CASES = (
    Case("POST api_keys", Action.KEY_CREATED, {"name": "x", "scope": "read"}),
    Case("POST api_key_revoke", Action.KEY_REVOKED, before=_own_key),
    Case("POST project_settings", Action.PROJECT_CHANGED, {"name": "Other"}),
    Case("POST project_delete", Action.PROJECT_DELETED,
         lambda world: {"typed": world.project.slug}),
    Case("POST member_remove", Action.MEMBER_REMOVED),
    Case("POST invitation_revoke", Action.INVITATION_REVOKED),
    Case("GET saved_file", Action.EXPORT_DOWNLOADED, before=_file),
    Case("POST saved_delete", Action.EXPORT_DELETED),
    Case("GET export_download", Action.EXPORT_DOWNLOADED, query="format=csv"),
    Case("GET run_transcripts", Action.EXPORT_DOWNLOADED),
    Case("GET site_payout", Action.EXPORT_DOWNLOADED),
    Case("GET my_data_file", Action.USER_EXPORTED),
    Case("GET audit_log", Action.EXPORT_DOWNLOADED, query="csv=", actor="operator"),
    Case("GET project_audit", Action.EXPORT_DOWNLOADED, query="csv="),
    Case("POST my_data_erase", Action.USER_ERASED,
         lambda world: {"typed": world.people["viewer"].username}, actor="viewer"),
    Case("POST webhook_secret", Action.WEBHOOK_SECRET_CHANGED),
    Case("POST webhook_delete", Action.WEBHOOK_DELETED),
    Case("POST run_cancel", Action.RUN_CHANGED),
    Case("POST site_key_add", Action.SITE_KEY_CREATED, {"purpose": "sign"}),
    Case("POST site_key_revoke", Action.SITE_KEY_REVOKED),
    Case("POST provider_remove", Action.PROVIDER_REMOVED, actor="operator",
         before=_shared_provider),
    Case("POST model_forget", Action.MODEL_CHANGED, actor="operator", before=_shared_provider),
    Case("POST project_provider_remove", Action.PROVIDER_REMOVED),
    Case("POST project_model_forget", Action.MODEL_CHANGED),
)  # fmt: skip

#: Further requests that record: the request whose service they share, or an entry of ``SERVICES``.
TWINS = {
    "POST release_hold": "service hold",
    "POST api_key_rotate": "POST api_api_key_rotate",
    "POST session_end": "service session",
    "POST sessions_end_others": "service sessions",
    "POST group_role_set": "service group role",
    "POST group_role_remove": "service removed group role",
    "POST api_shared_provider_list": "POST api_provider_list",
    "PATCH api_shared_provider": "PATCH api_provider",
    "DELETE api_shared_provider": "DELETE api_provider",
    "DELETE api_shared_provider_key": "DELETE api_provider_key",
    "POST api_quality_person_requeue": "service requeue",
    "POST api_schema_change_list": "service schema change",
    "POST api_bulk_list": "service bulk edit",
    "POST api_bulk_undo": "service bulk undo",
    "POST api_automation": "service auto-accept",
    "DELETE api_automation": "service auto-accept",
    "POST api_experiment_list": "POST api_run_list",
    "POST api_sites": "service site",
    "PUT api_site_features": "service features",
    "POST api_site_features": "service features",
    "POST api_site_payout_list": "service payout",
    "POST api_site_echo_thaw": "POST api_site_echo_freeze",
    "POST api_site_echo_catalogue": "PATCH api_site_echo_item",
    "POST api_site_echo_experiment_list": "POST api_site_echo_experiment_start",
    "POST api_site_echo_experiment_end": "POST api_site_echo_experiment_start",
    "POST project_create": "POST api_projects",
    "POST project_from_config": "POST api_projects",
    "POST project_import_stop": "DELETE api_archive_import",
    "POST project_schema": "POST api_schema_change_list",
    "POST project_guideline": "PATCH api_project",
    "POST member_invite": "POST api_invitation_list",
    "POST join": "POST api_members",
    "POST member_change": "POST api_members",
    "POST import_create": "POST api_import",
    "POST import_detail": "POST api_import",
    "POST export_page": "POST api_saved_export_list",
    "POST webhook_create": "POST api_webhook_list",
    "POST webhook_detail": "PATCH api_webhook",
    "POST webhook_switch": "PATCH api_webhook",
    "POST webhook_replay": "POST api_webhook_replay",
    "POST run_create": "POST api_run_list",
    "POST run_budget": "POST api_run_pause",
    "POST run_pause": "POST api_run_pause",
    "POST run_resume": "POST api_run_resume",
    "POST prompt_try": "POST api_run_list",
    "POST variant_create": "service prompt",
    "POST variant_retire": "service retired prompt",
    "POST routing_rule": "PUT api_routing",
    "POST review_plan": "PATCH api_plan",
    "POST review_screen": "PATCH api_screen",
    "POST review_revoke": "service leases",
    "POST labels_change": "POST api_schema_change_list",
    "POST labels_change_detail": "POST api_schema_change_list",
    "POST quality_pause": "POST api_quality_person_pause",
    "POST quality_resume": "POST api_quality_person_resume",
    "POST quality_requeue": "POST api_quality_person_requeue",
    "POST bulk_list": "POST api_bulk_list",
    "POST bulk_undo": "POST api_bulk_undo",
    "POST filter_first": "PATCH api_plan",
    "POST site_create": "POST api_sites",
    "POST site_allow_here": "PATCH api_site",
    "POST site_settings": "PATCH api_site",
    "POST site_consent": "PUT api_site_consent",
    "POST site_delete": "DELETE api_site",
    "POST site_pay": "POST api_site_payout_list",
    "POST feature_add": "PUT api_site_features",
    "POST feature_create": "PUT api_site_features",
    "POST feature_import": "PUT api_site_features",
    "POST feature_edit": "PUT api_site_features",
    "POST feature_change": "PUT api_site_features",
    "POST site_echo": "PATCH api_site_echo",
    "POST site_echo_settings": "PATCH api_site_echo",
    "POST site_offers_switch": "PATCH api_site_echo",
    "POST site_offers_settings": "PATCH api_site_echo",
    "POST catalogue_import": "POST api_site_echo_catalogue",
    "POST catalogue_item_switch": "PATCH api_site_echo_item",
    "POST offer_experiment_create": "POST api_site_echo_experiment_list",
    "POST offer_experiment_change": "POST api_site_echo_experiment_start",
    "POST author_rule": "POST api_site_author_ruling",
    "POST author_erase": "DELETE api_site_author",
    "POST automation": "POST api_automation",
    "POST learning": "POST api_learning",
    "POST experiment_create": "POST api_experiment_list",
    "POST experiment_use": "POST api_run_list",
    "POST provider_create": "POST api_provider_list",
    "POST provider_edit": "PATCH api_provider",
    "POST provider_key_remove": "DELETE api_provider_key",
    "POST model_edit": "PATCH api_provider",
    "POST project_provider_create": "POST api_provider_list",
    "POST project_provider_edit": "PATCH api_provider",
    "POST project_provider_key_remove": "DELETE api_provider_key",
    "POST project_model_edit": "PATCH api_provider",
}


def _worked(project: Project) -> User:
    """A reviewer of the project who has labelled an item."""
    user = reviewer(project)
    answer(claim(project, user), user, "good")
    return user


def _requeue(project: Project, boss: User) -> None:
    requeue_labels(project=project, user=_worked(project), by=boss, reason="Too fast.")


def _revoke(project: Project, boss: User) -> None:
    slot = claim(project, reviewer(project))
    revoke_leases(project=project, slot_ids=[slot.pk], by=boss)


def _pay(_project: Project, boss: User) -> None:
    site = site_with_features(reward_cents=5)
    author = author_of(site, "customer")
    answered_by(author)
    Author.objects.filter(pk=author.pk).update(proven=True)
    Reward.objects.update(due_at=timezone.now())
    pay_out(site, boss)


def _auto_accept(project: Project, boss: User) -> None:
    drawn = Guarantee.objects.create(
        project=project, target=0.1, confidence=0.9, rule={}, bounds=[], specs=[], sample=[],
        golds={}, start_errors=0, labels_per_item=1,
    )  # fmt: skip
    switch_off(drawn, actor=boss)


def _group_role(project: Project, boss: User) -> GroupRole:
    return set_group_role(project=project, group="g", role="viewer", kind="crowd", actor=boss)


def _no_group_role(project: Project, boss: User) -> None:
    rule = _group_role(project, boss)
    remove_group_role(project=project, rule_id=rule.pk, actor=boss)


def _release(_project: Project, _boss: User) -> None:
    hold()
    release_hold()


def _end_one(_project: Project, boss: User) -> None:
    row = UserSession.objects.create(
        user=boss, session_key="k", ip="192.0.2.1", last_seen_at=timezone.now()
    )
    end_session(boss, row.pk)


#: Name → action, and what is done in a project with an open item by a manager.
SERVICES: dict[str, tuple[Action, Callable[[Project, User], object]]] = {
    "requeue": (Action.LABELS_REQUEUED, _requeue),
    "schema change": (
        Action.SCHEMA_CHANGED, lambda project, _: begun(project, Rename("good", "fine"))
    ),
    "bulk edit": (Action.BULK_STARTED, lambda project, boss: done(project, boss, "promote")),
    "bulk undo": (
        Action.BULK_UNDONE, lambda project, boss: undone(done(project, boss, "promote"), boss)
    ),
    "auto-accept": (Action.AUTOMATION_CHANGED, _auto_accept),
    "site": (Action.SITE_CREATED, lambda _, boss: site_with_features(actor=boss)),
    "features": (
        Action.FEATURES_CHANGED,
        lambda _, boss: set_features(
            site=site_with_features(actor=boss), features=starter_library()["emotion"]
        ),
    ),
    "payout": (Action.PAYOUT_CREATED, _pay),
    "prompt": (Action.PROMPT_CREATED, lambda project, _: variant_of(project)),
    "retired prompt": (
        Action.PROMPT_RETIRED, lambda project, _: retire_variant(variant=variant_of(project))
    ),
    "leases": (Action.LEASES_ENDED, _revoke),
    "group role": (Action.GROUP_ROLE_CHANGED, _group_role),
    "removed group role": (Action.GROUP_ROLE_REMOVED, _no_group_role),
    "hold": (Action.HOLD_RELEASED, _release),
    "session": (Action.SESSIONS_ENDED, _end_one),
    "sessions": (Action.SESSIONS_ENDED, lambda _, boss: end_sessions(boss)),
}  # fmt: skip

LEDGER = "the ledger of labels says who said what, and is append-only itself"
AUTHORS = "what authors do is in their own events, under their pseudonym"
NOTHING = "it stores nothing"
SIGN_INS = "what comes of it is a sign-in, a refusal or an end of sessions: tests/accounts/"
OWN = "only the person's own view changes"
SEARCHES = "a saved search holds no data"
ARCHIVES = "the whole file is read first: tests/exchange/archive/test_loading.py"
ELSEWHERE = {
    "POST project_imports": ARCHIVES, "POST api_archive_import_list": ARCHIVES,
    "POST set_theme": OWN, "POST set_language": OWN, "POST review_keys": OWN,
    "POST notifications_read": OWN, "POST notifications_mail": OWN, "POST comments_seen": OWN,
    "POST project_preview": NOTHING, "POST provider_check": NOTHING,
    "POST project_provider_check": NOTHING, "POST saved_verify": NOTHING,
    "POST site_console": NOTHING, "POST catalogue_try": NOTHING, "POST webhook_ping": NOTHING,
    "POST api_webhook_ping": NOTHING, "POST api_saved_export_verify": NOTHING,
    "POST api_provider_test": NOTHING, "POST api_shared_provider_test": NOTHING,
    "POST oidc_connect": SIGN_INS, "POST oidc_logout": SIGN_INS, "POST sso_saml_connect": SIGN_INS,
    "POST saml_acs": SIGN_INS, "POST saml_finish_acs": SIGN_INS, "POST saml_sls": SIGN_INS,
    "POST saml_metadata": NOTHING,
    "POST review_next": LEDGER, "POST review_submit": LEDGER, "POST review_skip": LEDGER,
    "POST review_undo": LEDGER, "POST review_renew": LEDGER, "POST review_release": LEDGER,
    "POST review_unskip": LEDGER, "POST review_take_back": LEDGER, "POST review_postpone": LEDGER,
    "POST review_draft": LEDGER, "POST adjudication_undo": LEDGER,
    "POST adjudication_decide": LEDGER, "POST adjudication_return": LEDGER,
    "POST adjudication_skip": LEDGER, "POST comment_resolve": LEDGER, "POST item_comments": LEDGER,
    "POST api_next": LEDGER, "POST api_lease": LEDGER, "DELETE api_lease": LEDGER,
    "POST api_label": LEDGER, "POST api_adjudication_item": LEDGER,
    "POST api_adjudication_item_return": LEDGER, "POST api_comment_list": LEDGER,
    "POST api_comment_resolve": LEDGER,
    "POST filter_list": SEARCHES, "POST filter_delete": SEARCHES, "POST api_filter_list": SEARCHES,
    "DELETE api_filter": SEARCHES,
    "POST api_site_messages": AUTHORS, "POST api_site_optout": AUTHORS,
    "POST api_site_question_shown": AUTHORS, "POST api_site_question_answer": AUTHORS,
    "POST api_site_question_dismiss": AUTHORS, "POST api_site_question_undo": AUTHORS,
    "POST api_site_echo_message": AUTHORS, "POST api_site_echo_selection_rewards": AUTHORS,
    "POST api_site_echo_offer_events": AUTHORS,
}  # fmt: skip
