"""How gunicorn serves the pages. It reads this file in the folder where it is started."""

# The pages are loaded once, before the processes part, and not by each of them in its first request: that takes
# seconds, on a busy machine longer than a request may take, and the same memory several times.
preload_app = True
# It would be one socket for all installations of a user, in a home that the container does not have.
control_socket_disable = True
