from django.urls import path

from apps.reviews.adjudication import views as adjudication
from apps.reviews.bulk import views as bulk
from apps.reviews.comments import views as comments
from apps.reviews.quality import views as quality
from apps.reviews.queue import views as queue
from apps.reviews.schema_changes import views as labels
from apps.reviews.search import views as search

ONE_PERSON = "p/<slug:slug>/quality/<int:user_id>/"

urlpatterns = [
    path("p/<slug:slug>/quality/", quality.quality, name="quality"),
    path(ONE_PERSON, quality.quality_person, name="quality_person"),
    path(f"{ONE_PERSON}pause/", quality.quality_pause, name="quality_pause"),
    path(f"{ONE_PERSON}resume/", quality.quality_resume, name="quality_resume"),
    path(f"{ONE_PERSON}requeue/", quality.quality_requeue, name="quality_requeue"),
    path(
        f"{ONE_PERSON}requeue/progress/",
        quality.quality_requeue_progress,
        name="quality_requeue_progress",
    ),
    path("settings/keys/", queue.review_keys, name="review_keys"),
    path("p/<slug:slug>/labels/change/", labels.labels_change, name="labels_change"),
    path(
        "p/<slug:slug>/labels/changes/<int:change_id>/",
        labels.labels_change_detail,
        name="labels_change_detail",
    ),
    path("p/<slug:slug>/review/", queue.review, name="review"),
    path("p/<slug:slug>/review/plan/", queue.review_plan, name="review_plan"),
    path("p/<slug:slug>/review/screen/", queue.review_screen, name="review_screen"),
    path("p/<slug:slug>/review/leases/", queue.review_leases, name="review_leases"),
    path("p/<slug:slug>/review/leases/revoke/", queue.review_revoke, name="review_revoke"),
    path("p/<slug:slug>/review/next/", queue.review_next, name="review_next"),
    path("p/<slug:slug>/review/submit/", queue.review_submit, name="review_submit"),
    path("p/<slug:slug>/review/skip/", queue.review_skip, name="review_skip"),
    path("p/<slug:slug>/review/postpone/", queue.review_postpone, name="review_postpone"),
    path("p/<slug:slug>/review/draft/", queue.review_draft, name="review_draft"),
    path("p/<slug:slug>/review/undo/", queue.review_undo, name="review_undo"),
    path("p/<slug:slug>/review/take-back/", queue.review_take_back, name="review_take_back"),
    path("p/<slug:slug>/review/renew/", queue.review_renew, name="review_renew"),
    path("p/<slug:slug>/review/release/", queue.review_release, name="review_release"),
    path("p/<slug:slug>/review/unskip/", queue.review_unskip, name="review_unskip"),
    path("p/<slug:slug>/review/status/", queue.review_status, name="review_status"),
    path(
        "p/<slug:slug>/review/items/<int:item_id>/debate/",
        queue.review_debate,
        name="review_debate",
    ),
    path("p/<slug:slug>/adjudication/", adjudication.adjudication, name="adjudication"),
    path(
        "p/<slug:slug>/adjudication/next/",
        adjudication.adjudication_next,
        name="adjudication_next",
    ),
    path(
        "p/<slug:slug>/adjudication/undo/",
        adjudication.adjudication_undo,
        name="adjudication_undo",
    ),
    path(
        "p/<slug:slug>/adjudication/<int:item_id>/",
        adjudication.adjudication_item,
        name="adjudication_item",
    ),
    path(
        "p/<slug:slug>/adjudication/<int:item_id>/decide/",
        adjudication.adjudication_decide,
        name="adjudication_decide",
    ),
    path(
        "p/<slug:slug>/adjudication/<int:item_id>/return/",
        adjudication.adjudication_return,
        name="adjudication_return",
    ),
    path(
        "p/<slug:slug>/adjudication/<int:item_id>/skip/",
        adjudication.adjudication_skip,
        name="adjudication_skip",
    ),
    path(
        "p/<slug:slug>/adjudication/<int:item_id>/debates/",
        adjudication.adjudication_debates,
        name="adjudication_debates",
    ),
    path("p/<slug:slug>/comments/", comments.comment_list, name="comment_list"),
    path("p/<slug:slug>/comments/seen/", comments.comments_seen, name="comments_seen"),
    path("p/<slug:slug>/comments/people/", comments.comment_people, name="comment_people"),
    path(
        "p/<slug:slug>/comments/<int:comment_id>/resolve/",
        comments.comment_resolve,
        name="comment_resolve",
    ),
    path(
        "p/<slug:slug>/items/<int:item_id>/comments/", comments.item_comments, name="item_comments"
    ),
    path("p/<slug:slug>/bulk/", bulk.bulk_list, name="bulk_list"),
    path("p/<slug:slug>/bulk/new/", bulk.bulk_new, name="bulk_new"),
    path("p/<slug:slug>/bulk/<int:job_id>/", bulk.bulk_detail, name="bulk_detail"),
    path("p/<slug:slug>/bulk/<int:job_id>/part/", bulk.bulk_progress, name="bulk_progress"),
    path("p/<slug:slug>/bulk/<int:job_id>/undo/", bulk.bulk_undo, name="bulk_undo"),
    path("p/<slug:slug>/filters/", search.filter_list, name="filter_list"),
    path("p/<slug:slug>/filters/first/", search.filter_first, name="filter_first"),
    path(
        "p/<slug:slug>/filters/<int:filter_id>/delete/",
        search.filter_delete,
        name="filter_delete",
    ),
]
