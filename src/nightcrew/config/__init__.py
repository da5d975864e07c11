"""The configuration: read, layered, checked, described. Adapters never import it; they get their slice."""
