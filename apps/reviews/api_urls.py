"""REST addresses of the queue, of items and labels, and of those who manage them."""

from apps.common.api.viewsets import Router
from apps.reviews.adjudication import api as adjudication
from apps.reviews.bulk import api as bulk
from apps.reviews.comments import api as comments
from apps.reviews.quality import api as quality
from apps.reviews.queue import api as queue
from apps.reviews.schema_changes import api as schema_changes
from apps.reviews.search import api as search

PROJECT = "projects/<slug:slug>"

router = Router()
router.register(f"{PROJECT}/quality", quality.QualityViewSet, "api_quality")
router.register(f"{PROJECT}/quality", quality.WorkerViewSet, "api_quality_person")
router.register(f"{PROJECT}/anchoring", quality.AnchoringViewSet, "api_anchoring")
router.register(f"{PROJECT}/plan", queue.PlanViewSet, "api_plan")
router.register(f"{PROJECT}/screen", queue.ScreenViewSet, "api_screen")
router.register(f"{PROJECT}/next", queue.NextViewSet, "api_next")
router.register(f"{PROJECT}/leases/<uuid:token>", queue.LeaseViewSet, "api_lease")
router.register(f"{PROJECT}/labels", queue.LabelViewSet, "api_label")
router.register(f"{PROJECT}/items", search.ItemsViewSet, "api_items")
router.register("items", search.ItemViewSet, "api_item")
router.register(
    f"{PROJECT}/schema-changes", schema_changes.SchemaChangeViewSet, "api_schema_change"
)
router.register(f"{PROJECT}/adjudication", adjudication.DocketViewSet, "api_adjudication")
router.register(
    f"{PROJECT}/adjudication/<int:pk>", adjudication.RulingViewSet, "api_adjudication_item"
)
router.register(f"{PROJECT}/comments", comments.CommentViewSet, "api_comment")
router.register(f"{PROJECT}/filters", search.SavedFilterViewSet, "api_filter")
router.register(f"{PROJECT}/bulk", bulk.BulkJobViewSet, "api_bulk")
urlpatterns = router.urls
