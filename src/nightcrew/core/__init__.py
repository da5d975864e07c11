"""The pure part of Nightcrew: what things are and what to do about them.

Standard library only, without I/O, clock, randomness or logging. Everything here is a value or a function of values.
"""
