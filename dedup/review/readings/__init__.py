"""What people say of pairs that decides nothing: second readings of decisions, and labels of validation samples."""
