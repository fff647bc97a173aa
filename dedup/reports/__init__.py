"""What the archive holds, counted: each report is one class."""
