"""URLs: parsing, normalizing, scope, traps and sitemaps."""
