"""What a newspaper repeats from article to article. Pure."""
