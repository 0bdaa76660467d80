"""Programs as people write them, by kind: mini_dynamo must do with each what Python does."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
