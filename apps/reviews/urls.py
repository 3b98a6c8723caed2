from django.urls import path

from apps.reviews import views

urlpatterns = [
    path("p/<slug:slug>/review/", views.review, name="review"),
    path("p/<slug:slug>/review/plan/", views.review_plan, name="review_plan"),
    path("p/<slug:slug>/review/next/", views.review_next, name="review_next"),
    path("p/<slug:slug>/review/submit/", views.review_submit, name="review_submit"),
    path("p/<slug:slug>/review/skip/", views.review_skip, name="review_skip"),
    path("p/<slug:slug>/review/undo/", views.review_undo, name="review_undo"),
    path("p/<slug:slug>/review/renew/", views.review_renew, name="review_renew"),
    path("p/<slug:slug>/review/release/", views.review_release, name="review_release"),
    path("p/<slug:slug>/review/unskip/", views.review_unskip, name="review_unskip"),
    path("p/<slug:slug>/review/status/", views.review_status, name="review_status"),
    path(
        "p/<slug:slug>/review/items/<int:item_id>/debate/",
        views.review_debate,
        name="review_debate",
    ),
]
