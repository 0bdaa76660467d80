"""Names of registries and folders that only one machine knows."""

import re

# Written in pieces, so that this file does not name them itself.
HOSTS = [".".join(parts) for parts in (
    ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"),
    ("yarnpkg", "com"), ("npmmirror", "com"), ("anaconda", "org"), ("download", "pytorch", "org"),
    ("crates", "io"), ("proxy", "golang", "org"),
)]
FOLDERS = [f"/{name}" for name in ("work", "root")]
HOST = re.compile("|".join(rf"(?<![\w-]){re.escape(host)}(?![\w-])" for host in HOSTS))
FOLDER = re.compile("|".join(rf"(?<![\w.*-]){re.escape(folder)}(?![\w-])" for folder in FOLDERS))
