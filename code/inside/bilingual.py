"""A text in both languages as HTML; the page shows the reader's, a notebook both."""

LANGUAGES = {"zh": "zh-Hans", "en": "en"}


def spans(zh, en, between=" "):
    """Two pieces of HTML, one in each language; once where they are the same."""
    texts = {"zh": zh, "en": en}
    return zh if zh == en else between.join(
        f'<span class="lang-{key}" lang="{tag}">{texts[key]}</span>'
        for key, tag in LANGUAGES.items())
