"""What lists articles, as read: feeds and sitemaps."""
