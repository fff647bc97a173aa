"""Alarms: what an admin has to see to is found, recorded, and told on the pages, by e-mail and by webhooks."""
