"""Planted bugs, to show that the simulation finds such: each a small change to the real code, by name.

A bug is planted by swapping a function of the product for the run, wherever modules refer to it, and put back
afterwards. That is for planting alone; no other test changes the product's insides. Each suite has its own file."""
