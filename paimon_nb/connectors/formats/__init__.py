"""What messages hold: bytes to rows and rows to bytes, by the name that `'format' = '...'` says. Knows no broker."""

from paimon_nb.connectors.formats.api import Decoder, Encoder, Rows
from paimon_nb.connectors.formats.registry import open_decoder, open_encoder

__all__ = ["Decoder", "Encoder", "Rows", "open_decoder", "open_encoder"]
