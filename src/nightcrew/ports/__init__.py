"""What the engine needs from the outside: one Protocol a file, with its guarantees. Nothing here does anything."""
