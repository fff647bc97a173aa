"""What editors are asked: the tabs of the queue, the next question, leases, and questions put off until later."""
