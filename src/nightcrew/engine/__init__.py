"""The loop: observe what is, decide what to do, act. Only `act` changes anything."""
