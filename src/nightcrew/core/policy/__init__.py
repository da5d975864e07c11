"""The rules, one question a file. `decide` asks them and holds none of its own."""
