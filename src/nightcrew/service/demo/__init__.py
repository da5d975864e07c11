"""`nightcrew demo`: the whole main job on a sample repository, in a throw-away home."""

from nightcrew.service.demo.run import run_demo

__all__ = ["run_demo"]
