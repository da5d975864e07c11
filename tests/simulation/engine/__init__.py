"""The real engine, on a loop whose time is made up, over fakes that fail, lag and die as a seed says."""
