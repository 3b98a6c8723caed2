"""What a chat remembers: replies stand directly after what they reply to."""

from apps.authors.services.chat import READ, REMEMBERED, ChatHistory, ChatLine


def line(mid: str, role: str = "author") -> ChatLine:
    return ChatLine(mid, "talk", role, f"text of {mid}")


def talk_of(*lines: ChatLine) -> ChatHistory:
    talk = ChatHistory()
    for line in lines:
        talk.add(line)
    return talk


def said(talk: ChatHistory, mid: str) -> list[str]:
    return [text.removeprefix("text of ") for _, text in talk.until(mid)]


def test_the_model_reads_up_to_the_message_that_it_answers() -> None:
    talk = talk_of(line("m-1"), line("m-2"), line("m-3"))
    assert said(talk, "m-2") == ["m-1", "m-2"]


def test_a_reply_stands_directly_after_its_message() -> None:
    talk = talk_of(line("m-1"), line("m-2"))
    talk.answer("m-1", line("r-1", "assistant"))
    assert said(talk, "m-2") == ["m-1", "r-1", "m-2"]


def test_only_messages_of_the_author_without_a_reply_wait_for_one() -> None:
    talk = talk_of(line("m-1"), line("r-1", "assistant"), line("m-2"), line("m-3"))
    waiting = [mid for mid in ("m-1", "r-1", "m-2", "m-3", "m-4") if talk.waits(mid)]
    assert waiting == ["m-2", "m-3"]


def test_a_message_is_replied_to_once() -> None:
    talk = talk_of(line("m-1"), line("m-2"))
    for mid in ("r-1", "r-2"):
        talk.answer("m-1", line(mid, "assistant"))
    assert said(talk, "m-2") == ["m-1", "r-1", "m-2"]


def test_what_was_said_long_ago_is_forgotten() -> None:
    talk = talk_of(*[line(f"m-{number}") for number in range(REMEMBERED + 1)])
    assert talk.find("m-0") is None
    assert talk.until("m-0") == []
    assert len(talk.until(f"m-{REMEMBERED}")) == READ
