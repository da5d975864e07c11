"""The service, kept running by the operating system."""
