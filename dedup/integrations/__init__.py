"""Webhooks: what happens to clusters is queued with it, and sent by the worker, signed, until it is accepted."""
