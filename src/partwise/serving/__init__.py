"""A server for models: predictions over HTTP, and a page to try them on."""
