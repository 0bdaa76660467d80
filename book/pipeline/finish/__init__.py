"""What is done to the site once Jupyter Book has ended: plain functions on its folder, which
`book.pipeline.site` calls one after another."""
