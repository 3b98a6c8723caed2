"""The browser tests of every day, by file: one of each thing that only a browser can show.

All of them take ten minutes, and what the widget says to the server is tried without a browser as
well (tests/authors). The others count as ``thorough``: ``make e2e`` runs every one.
"""

import pytest

IN_THE_BROWSER = {
    "test_accessibility.py": ["test_no_page_is_left_out"],
    "test_author_labeling.py": ["test_nothing_is_sent_or_stored_before_consent"],
    "test_review_keys.py": ["test_number_keys_choose_and_enter_saves"],
    "test_widget_accessibility.py": ["test_by_keys_alone"],
    "test_widget_chat.py": ["test_a_reply_comes_in_pieces"],
    "test_widget_costs.py": ["test_who_said_no_is_left_alone"],
    "test_widget_hostile_text.py": ["test_a_message_full_of_markup_is_quoted_as_text"],
    "test_widget_policy.py": ["test_a_strict_policy_is_enough_for_the_companion"],
    "test_widget_refusals.py": ["test_an_unknown_key_warns_once"],
    "test_widget_reliability.py": ["test_what_is_answered_offline_arrives_once"],
}


def leave_the_others(items: list[pytest.Item]) -> None:
    """Mark the browser tests that are not of every day."""
    for item in items:
        if item.path.parent.name == "e2e":
            name = item.name.partition("[")[0]
            if name not in IN_THE_BROWSER.get(item.path.name, ()):
                item.add_marker(pytest.mark.thorough)
