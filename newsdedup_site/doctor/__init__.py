"""The doctor: looks whether the database keeps what newsdedup promises of it, and says how to repair what does not."""
