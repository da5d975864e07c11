"""Where runs live. Kept empty of imports: the shim, which must start fast, comes from here too."""
