"""How gunicorn serves the pages. It reads this file in the folder where it is started; docs/running.md explains it."""

worker_class = "newsdedup_site.serving.BufferingWorker"
# Each thread has a connection to the database while it works on a request: 24 of the 100 that PostgreSQL allows.
workers = 3
threads = 8
# Of one process. More are accepted in the place of those that are silent longest.
worker_connections = 500
# How long a connection may be silent, in seconds.
keepalive = 60
# The pages are loaded once, before the processes part, and not by each of them in its first request: that takes
# seconds, on a busy machine longer than a request may take, and the same memory several times.
preload_app = True
# It would be one socket for all installations of a user, in a home that the container does not have.
control_socket_disable = True
