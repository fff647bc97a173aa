"""`newsdedup clean`: from files of any kind to a corpus with each article once, and a report on what was found."""
