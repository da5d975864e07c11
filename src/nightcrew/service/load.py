"""Loading the configuration of a home, with the adapters that are installed."""

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.load import Configuration, load_configuration
from nightcrew.core.errors import Missing
from nightcrew.service.adapter import adapter_names


def load(home: Home) -> Configuration:
    """The configuration. Missing if there is none, ConfigError with every problem in it."""
    if not home.config.is_file():
        raise Missing(f"{home.config} is not there; begin with: nightcrew init")
    return load_configuration(home.config, environ=load_environment(), adapters=adapter_names())
