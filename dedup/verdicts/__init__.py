"""What two articles are to each other, how probable that is, and why. Pure."""
