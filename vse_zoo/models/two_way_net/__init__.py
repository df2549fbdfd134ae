"""2-Way Nets: model.py, channels.py, and README.md with the paper's equations and our deviations."""

from vse_zoo.models.two_way_net.model import TwoWayNet

__all__ = ["TwoWayNet"]
