"""Tools that turn chapters and cards into a site: the commands stand here, their parts in rooms."""
