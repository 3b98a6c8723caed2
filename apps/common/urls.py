from django.urls import path
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from apps.common import views

urlpatterns = [
    path("health/live", views.health_live, name="health_live"),
    path("health/ready", views.health_ready, name="health_ready"),
    path("theme/", views.set_theme, name="set_theme"),
    path("language/", require_POST(set_language), name="set_language"),
    path("design/", views.design_system, name="design_system"),
]
