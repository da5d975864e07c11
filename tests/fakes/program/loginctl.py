"""loginctl's answer about lingering: yes once the file `linger` is in its state."""

import sys
from pathlib import Path

said = "yes" if (Path(sys.argv[1]) / "linger").exists() else "no"
sys.stdout.write(f"Linger={said}\n")
