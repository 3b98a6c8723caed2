"""REST addresses of imports, exports and webhooks."""

from apps.common.api.viewsets import Router
from apps.exchange.api.archives import ProjectImportViewSet
from apps.exchange.api.exports import ExportViewSet, SavedExportViewSet
from apps.exchange.api.imports import ImportStateViewSet, ImportViewSet, LabelImportViewSet
from apps.exchange.api.items import ItemChangesViewSet, ProjectItemViewSet
from apps.exchange.api.webhooks import WebhookViewSet

PROJECT = "projects/<slug:slug>"

router = Router()
router.register(f"{PROJECT}/import", ImportViewSet, "api_import")
router.register(f"{PROJECT}/labels/import", LabelImportViewSet, "api_label_import")
router.register(f"{PROJECT}/items", ProjectItemViewSet, "api_project_item")
router.register(f"{PROJECT}/item-changes", ItemChangesViewSet, "api_item_changes")
router.register(f"{PROJECT}/imports", ImportStateViewSet, "api_import_detail")
router.register(f"{PROJECT}/export", ExportViewSet, "api_export")
router.register(f"{PROJECT}/exports", SavedExportViewSet, "api_saved_export")
router.register(f"{PROJECT}/webhooks", WebhookViewSet, "api_webhook")
router.register("archive-imports", ProjectImportViewSet, "api_archive_import")
urlpatterns = router.urls
