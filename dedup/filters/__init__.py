"""What the lists can be narrowed to: one module for each kind of list. A value that makes no sense is passed over."""
