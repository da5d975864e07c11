"""The nouns of Nightcrew, one a file: frozen values without behaviour that reaches outside."""
