"""What all tests share: the profiles of hypothesis."""

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
