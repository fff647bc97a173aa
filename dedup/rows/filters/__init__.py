"""The filters of the lists, one module for each kind of list. Invalid values are ignored."""
