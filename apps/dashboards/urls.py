"""Pages over several apps."""

from django.urls import path
from django.views.generic import RedirectView

from apps.dashboards import views

_to_overview = RedirectView.as_view(pattern_name="project_overview", http_method_names=["get"])

urlpatterns = [
    path("", views.home, name="home"),
    path("find/", views.search, name="search"),
    path("start/", views.start, name="start"),
    path("my-data/", views.my_data, name="my_data"),
    path("my-data/file/", views.my_data_file, name="my_data_file"),
    path("my-data/erase/", views.my_data_erase, name="my_data_erase"),
    path("demo/shop/", views.demo_shop, name="demo_shop"),
    path("demo/chat/", views.demo_chat, name="demo_chat"),
    path("p/<slug:slug>/", views.project_overview, name="project_overview"),
    path("p/<slug:slug>/workload/", views.project_work, name="project_work"),
    path("p/<slug:slug>/mine/", views.my_work, name="my_work"),
    # An old address: the overview says what to set up next, and who may see it.
    path("p/<slug:slug>/setup/", _to_overview, name="project_setup"),
    path("p/<slug:slug>/items/", views.item_list, name="item_list"),
    path("p/<slug:slug>/items/<int:item_id>/", views.item_detail, name="item_detail"),
]
