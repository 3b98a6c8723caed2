"""Settings of the OpenAPI document."""

DESCRIPTION = """
Projects, items, labels, runs, gold, evaluation.

**Signing in.** Create a key under *API keys* and send it with each request as
`Authorization: Token KEY`, `Authorization: Bearer KEY` or `X-Api-Key: KEY`. In a browser, your
session works too. A key has a scope (`read`, `label`, `write` or `admin`), may be bound to one
project, and may have an end.

**Errors** are `application/problem+json` with a stable `code` for programs, `detail` for people
and, for invalid fields, `errors` with `field` and `message`. What you may not see answers 404.

**Lists** are `{"count", "next", "previous", "results"}`. Use `page` and `page_size` (at most 1000).
Unknown query parameters are refused. The final slash of an address is optional.

**Repeating.** A write with an `Idempotency-Key` is done once, however often you send it in a day.
**Changes of others.** GETs have an `ETag`; send it as `If-None-Match` to read only what is new, and
as `If-Match` to change only what you have seen. **Limits.** `RateLimit` says how many requests
(`r`) you have for how many seconds (`t`); beyond, 429 with `Retry-After`.
"""

SPECTACULAR_SETTINGS = {
    "TITLE": "LabelHub",
    "DESCRIPTION": DESCRIPTION,
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "OAS_VERSION": "3.1.0",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "RunStatus": "apps.debates.models.Run.Status",
        "DebateStatus": "apps.debates.models.Debate.Status",
        "ImportStatus": "apps.projects.models.ImportBatch.Status",
        "InvitationState": "apps.projects.models.Invitation.State",
        "RoleEnum": "apps.accounts.roles.Role",
        "MessageStatus": "apps.authors.models.Message.Status",
        "MessageRole": "apps.authors.models.Message.Role",
        "QuestionStatus": "apps.authors.models.Question.Status",
        "KindEnum": "apps.accounts.roles.ReviewerKind",
        "ModelPurpose": "apps.llm.models.ModelSpec.Purpose",
        "PurposeEnum": "apps.authors.models.SiteKey.Purpose",
        "ProviderKind": "apps.llm.api.KINDS",
        "ProviderKeyState": "apps.llm.models.Provider.KeyState",
        "DecisionStatus": "apps.echo.models.Decision.Status",
        "SavedExportStatus": "apps.exchange.models.SavedExport.Status",
        "WebhookStatus": "apps.exchange.models.Webhook.Status",
        "DeliveryStatus": "apps.exchange.models.Delivery.Status",
        "BulkAction": "apps.reviews.models.BulkJob.Action",
        "LabelAction": "apps.labels.models.Label.Action",
        "BulkStatus": "apps.reviews.models.BulkJob.Status",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.common.api.openapi.add_problems",
    ],
}
