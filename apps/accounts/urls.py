from django.urls import path

from apps.accounts import views

urlpatterns = [
    path("keys/", views.api_keys, name="api_keys"),
    path("keys/<int:key_id>/rotate/", views.api_key_rotate, name="api_key_rotate"),
    path("keys/<int:key_id>/revoke/", views.api_key_revoke, name="api_key_revoke"),
]
