"""Cross-domain alignment with optimal transport: model.py; README.md has the paper's equations and our deviations."""

from vse_zoo.models.optimal_transport.model import TransportVSE

__all__ = ["TransportVSE"]
