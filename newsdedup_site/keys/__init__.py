"""Keys of the pages: what they do, which ones a user chose, and the page on which they are chosen."""
