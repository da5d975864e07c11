"""The version of the product, as one constant that every client can read cheaply."""

VERSION = "0.1.0"
