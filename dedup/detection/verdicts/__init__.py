"""The verdict on two articles, its probability and its reasons. Pure."""
