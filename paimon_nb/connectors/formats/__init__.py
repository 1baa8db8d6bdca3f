"""Message formats: decode bytes to rows and encode rows to bytes, by the name in `'format'`. Independent of any broker."""

from paimon_nb.connectors.formats.api import Decoder, Encoder, Rows
from paimon_nb.connectors.formats.registry import open_decoder, open_encoder

__all__ = ["Decoder", "Encoder", "Rows", "open_decoder", "open_encoder"]
