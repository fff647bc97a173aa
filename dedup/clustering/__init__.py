"""From judged pairs and decisions to clusters."""
