"""Say it: the model answer waits until the reader has spoken."""

import pytest

pytestmark = pytest.mark.browser
SUMMARY = {"zh": "看一种答法", "en": "Show one answer"}
ANSWER = {"zh": "不是。切片与原来的张量共用一块存储。",
          "en": "No. The slice and its tensor share one storage."}
POINTS = {"zh": "一块存储，两份元数据。", "en": "One storage, two sets of metadata."}


def part(page, lang):
    return page.locator(f"#say-it .lang-{lang}:has(> p)")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_answer_with_its_points_is_folded_and_the_question_and_follow_ups_are_not(
        page_of, lang):
    page = page_of("section", lang=lang)
    said = part(page, lang)
    fold = said.locator("details.fold.answer")
    assert fold.locator("summary").inner_text() == SUMMARY[lang]
    for text in (ANSWER[lang], POINTS[lang]):
        assert not said.get_by_text(text).is_visible()
    assert said.locator("> p").first.is_visible()
    assert said.locator("> ul").count() == 1, "the follow-ups"
    fold.locator("summary").press("Enter")
    for text in (ANSWER[lang], POINTS[lang]):
        assert said.get_by_text(text).is_visible()


def test_side_by_side_each_language_has_its_fold(page_of):
    page = page_of("section", lang="both")
    for lang in SUMMARY:
        part(page, lang).locator("summary").click()
        assert part(page, lang).get_by_text(ANSWER[lang]).is_visible()


def test_the_answer_shows_to_who_reads_straight_through_and_on_paper(page_of):
    page = page_of("section", lang="en")
    answer = part(page, "en").get_by_text(ANSWER["en"])
    page.locator(".reading-switch").click()
    assert answer.is_visible()
    page.reload()
    assert answer.is_visible()
    page.locator(".reading-switch").click()
    assert not answer.is_visible()
    page.emulate_media(media="print")
    assert answer.is_visible()
