"""What the OpenAPI document says of itself."""

SPECTACULAR_SETTINGS = {
    "TITLE": "LabelHub",
    "DESCRIPTION": "Projects, items, labels, runs, gold, evaluation. Errors are problem+json.",
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
        "RoleEnum": "apps.accounts.roles.Role",
        "MessageStatus": "apps.authors.models.Message.Status",
        "MessageRole": "apps.authors.models.Message.Role",
        "QuestionStatus": "apps.authors.models.Question.Status",
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
