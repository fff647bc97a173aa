"""Detection on a cluster: the same results as `find_duplicates`, from files instead of a database. Knows no Django."""
