"""Acting, an effect a file. Each one reads its evidence again, makes its effects through the journal, looks whether
they took, and records what came of it. Every one may be asked for twice."""
