"""A recipe's configuration: one TOML file is one experiment, checked field by field."""

from vse_zoo.training.configs.add_language import AddLanguageConfig
from vse_zoo.training.configs.base import load_config
from vse_zoo.training.configs.context_attention import ContextAttentionConfig
from vse_zoo.training.configs.optimal_transport import OptimalTransportConfig
from vse_zoo.training.configs.two_way_net import TwoWayNetConfig

__all__ = ["AddLanguageConfig", "ContextAttentionConfig", "OptimalTransportConfig", "TwoWayNetConfig", "load_config"]
