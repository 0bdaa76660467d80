"""Tools that turn chapters and cards into a site: run each as `python -m book.pipeline.NAME`."""
