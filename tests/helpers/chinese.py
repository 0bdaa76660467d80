"""What counts as Chinese in a text."""

import re

HAN = re.compile(r"[\u3400-\u9fff]")
CHINESE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")  # with its punctuation
