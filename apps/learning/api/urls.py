"""REST addresses of learning."""

from apps.common.api.viewsets import Router
from apps.learning.api.views import LearningViewSet

router = Router()
router.register("projects/<slug:slug>/learning", LearningViewSet, "api_learning")
urlpatterns = router.urls
