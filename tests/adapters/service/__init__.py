"""Parts of the service by themselves."""
