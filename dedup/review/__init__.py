"""What editors decide, and what the pages ask of pairs and clusters."""
