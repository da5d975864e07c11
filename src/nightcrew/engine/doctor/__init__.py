"""What `nightcrew doctor` looks at of the engine's own things: sessions, workspaces, labels, tasks against their issues
and pull requests, branches. What lies around it (tools, tokens, the service file) is in `service/doctor`."""

from nightcrew.engine.doctor.round import examine
from nightcrew.engine.doctor.ward import Ward

__all__ = ["Ward", "examine"]
