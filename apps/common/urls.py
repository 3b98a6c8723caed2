from django.urls import path

from apps.common import views

urlpatterns = [
    path("health/ready", views.health_ready, name="health_ready"),
    path("hold/release/", views.release_held_server, name="release_hold"),
    path("theme/", views.set_theme, name="set_theme"),
    path("language/", views.choose_language, name="set_language"),
    path("design/", views.design_system, name="design_system"),
]
