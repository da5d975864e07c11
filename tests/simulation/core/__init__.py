"""The real `core` without an event loop: everything around it is simulated, from one seed."""
