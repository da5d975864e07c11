"""What all tests share: the profiles of hypothesis, and signals as a terminal leaves them."""

import signal

from hypothesis import HealthCheck, settings

# One profile: derandomised, so that a run says the same here and in CI; `--hypothesis-profile=search` looks further.
settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    max_examples=60,
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", parent=settings.get_profile("steady"), derandomize=False, max_examples=400)
settings.load_profile("steady")

# A shell starts what it puts into the background with SIGINT ignored, and programs that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
