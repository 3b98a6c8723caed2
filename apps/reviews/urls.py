from django.urls import path

from apps.reviews.adjudication import views as adjudication
from apps.reviews.bulk import views as bulk
from apps.reviews.comments import views as comments
from apps.reviews.quality import views as quality
from apps.reviews.queue import views as queue
from apps.reviews.schema_changes import views as labels
from apps.reviews.search import views as search

PROJECT = "p/<slug:slug>/"
WORKER = f"{PROJECT}quality/<int:user_id>/"
DESK = f"{PROJECT}adjudication/"

urlpatterns = [
    path(f"{PROJECT}quality/", quality.quality, name="quality"),
    path(WORKER, quality.quality_person, name="quality_person"),
    path(f"{WORKER}pause/", quality.quality_pause, name="quality_pause"),
    path(f"{WORKER}resume/", quality.quality_resume, name="quality_resume"),
    path(f"{WORKER}requeue/", quality.quality_requeue, name="quality_requeue"),
    path(
        f"{WORKER}requeue/progress/",
        quality.quality_requeue_progress,
        name="quality_requeue_progress",
    ),
    path("settings/keys/", queue.review_keys, name="review_keys"),
    path(f"{PROJECT}labels/change/", labels.labels_change, name="labels_change"),
    path(
        f"{PROJECT}labels/changes/<int:change_id>/",
        labels.labels_change_detail,
        name="labels_change_detail",
    ),
    path(f"{PROJECT}review/", queue.review, name="review"),
    path(f"{PROJECT}review/plan/", queue.review_plan, name="review_plan"),
    path(f"{PROJECT}review/screen/", queue.review_screen, name="review_screen"),
    path(f"{PROJECT}review/leases/", queue.review_leases, name="review_leases"),
    path(f"{PROJECT}review/leases/revoke/", queue.review_revoke, name="review_revoke"),
    path(f"{PROJECT}review/next/", queue.review_next, name="review_next"),
    path(f"{PROJECT}review/submit/", queue.review_submit, name="review_submit"),
    path(f"{PROJECT}review/skip/", queue.review_skip, name="review_skip"),
    path(f"{PROJECT}review/postpone/", queue.review_postpone, name="review_postpone"),
    path(f"{PROJECT}review/draft/", queue.review_draft, name="review_draft"),
    path(f"{PROJECT}review/undo/", queue.review_undo, name="review_undo"),
    path(f"{PROJECT}review/take-back/", queue.review_take_back, name="review_take_back"),
    path(f"{PROJECT}review/renew/", queue.review_renew, name="review_renew"),
    path(f"{PROJECT}review/release/", queue.review_release, name="review_release"),
    path(f"{PROJECT}review/unskip/", queue.review_unskip, name="review_unskip"),
    path(f"{PROJECT}review/status/", queue.review_status, name="review_status"),
    path(f"{PROJECT}review/items/<int:item_id>/debate/", queue.review_debate, name="review_debate"),
    path(DESK, adjudication.adjudication, name="adjudication"),
    path(f"{DESK}next/", adjudication.adjudication_next, name="adjudication_next"),
    path(f"{DESK}undo/", adjudication.adjudication_undo, name="adjudication_undo"),
    path(f"{DESK}<int:item_id>/", adjudication.adjudication_item, name="adjudication_item"),
    path(
        f"{DESK}<int:item_id>/decide/", adjudication.adjudication_decide, name="adjudication_decide"
    ),
    path(
        f"{DESK}<int:item_id>/return/", adjudication.adjudication_return, name="adjudication_return"
    ),
    path(f"{DESK}<int:item_id>/skip/", adjudication.adjudication_skip, name="adjudication_skip"),
    path(
        f"{DESK}<int:item_id>/debates/",
        adjudication.adjudication_debates,
        name="adjudication_debates",
    ),
    path(f"{PROJECT}comments/", comments.comment_list, name="comment_list"),
    path(f"{PROJECT}comments/seen/", comments.comments_seen, name="comments_seen"),
    path(f"{PROJECT}comments/people/", comments.comment_people, name="comment_people"),
    path(
        f"{PROJECT}comments/<int:comment_id>/resolve/",
        comments.comment_resolve,
        name="comment_resolve",
    ),
    path(f"{PROJECT}items/<int:item_id>/comments/", comments.item_comments, name="item_comments"),
    path(f"{PROJECT}bulk/", bulk.bulk_list, name="bulk_list"),
    path(f"{PROJECT}bulk/new/", bulk.bulk_new, name="bulk_new"),
    path(f"{PROJECT}bulk/<int:job_id>/", bulk.bulk_detail, name="bulk_detail"),
    path(f"{PROJECT}bulk/<int:job_id>/part/", bulk.bulk_progress, name="bulk_progress"),
    path(f"{PROJECT}bulk/<int:job_id>/undo/", bulk.bulk_undo, name="bulk_undo"),
    path(f"{PROJECT}filters/", search.filter_list, name="filter_list"),
    path(f"{PROJECT}filters/first/", search.filter_first, name="filter_first"),
    path(f"{PROJECT}filters/<int:filter_id>/delete/", search.filter_delete, name="filter_delete"),
]
