"""What a simulated day of the core suite costs, in CPU time: thousands of them are lived through at a time."""

from tests.simulation.core.life import live

from bench.figure import Figure, median, spread


def measure(*, tiny: bool = False) -> list[Figure]:
    """One figure: milliseconds a simulated day, on one core. 50 are 20 days a second."""
    seeds, rounds = (2, 2) if tiny else (40, 5)
    times = []
    for number in range(rounds):
        lives = [live(seed, days=1.0) for seed in range(1 + number * seeds, 1 + (number + 1) * seeds)]
        times.append(1000 * sum(outcome.cpu_s for outcome in lives) / seeds)
    case = f"{seeds} seeds of a day"
    return [Figure("simulate", case, median(times), "ms", aim=50, notes=(spread(times, "ms"),))]
