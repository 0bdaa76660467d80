"""What tests of texts in both languages share."""

import re

CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")  # with its punctuation
