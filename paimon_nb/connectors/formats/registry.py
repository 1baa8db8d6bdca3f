"""All message formats by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.plugins import PluginGroup
from paimon_nb.base.registry import Registry
from paimon_nb.connectors.formats.avro import Avro
from paimon_nb.connectors.formats.avro_registry import (
    AvroConfluentDecoder,
    AvroConfluentEncoder,
    DebeziumAvroDecoder,
    DebeziumAvroEncoder,
)
from paimon_nb.connectors.formats.cdc_json import (
    CanalDecoder,
    CanalEncoder,
    CdcJsonDecoder,
    DebeziumDecoder,
    DebeziumEncoder,
    MaxwellDecoder,
    MaxwellEncoder,
    OggDecoder,
    OggEncoder,
)
from paimon_nb.connectors.formats.csv import CsvDecoder, CsvEncoder
from paimon_nb.connectors.formats.json import JsonDecoder, JsonEncoder
from paimon_nb.connectors.formats.raw import Raw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.connectors.formats.api import Decoder, Encoder, FormatOptions
    from paimon_nb.format.types import DataField

ROW_DECODERS: Registry[Callable[[Sequence[DataField], FormatOptions], Decoder]] = Registry(
    "format",
    {
        "json": JsonDecoder,
        "csv": CsvDecoder,
        "raw": Raw,
        "avro": Avro,
        "avro-confluent": AvroConfluentDecoder,
    },
    plugins=PluginGroup("decoders", "a function from columns and FormatOptions to a Decoder"),
)
CDC_DECODERS: Registry[type[CdcJsonDecoder]] = Registry(
    "format",
    {
        "debezium-json": DebeziumDecoder,
        "canal-json": CanalDecoder,
        "maxwell-json": MaxwellDecoder,
        "ogg-json": OggDecoder,
        "debezium-avro-confluent": DebeziumAvroDecoder,
    },
)
ENCODERS: Registry[Callable[[Sequence[DataField], FormatOptions], Encoder]] = Registry(
    "format",
    {
        "json": JsonEncoder,
        "csv": CsvEncoder,
        "raw": Raw,
        "avro": Avro,
        "avro-confluent": AvroConfluentEncoder,
        "debezium-avro-confluent": DebeziumAvroEncoder,
        "debezium-json": DebeziumEncoder,
        "canal-json": CanalEncoder,
        "maxwell-json": MaxwellEncoder,
        "ogg-json": OggEncoder,
    },
    plugins=PluginGroup("encoders", "a function from columns and FormatOptions to an Encoder"),
)


def open_decoder(
    fields: Sequence[DataField], options: FormatOptions, metadata: Mapping[str, str] | None = None
) -> Decoder:
    """A decoder for columns of a table.

    Args:
        fields: the columns.
        options: name and options of the format.
        metadata: column name -> metadata key, for those of `fields` that are metadata of the format.

    Raises:
        UnknownName: no such format.
        UnknownOption, BadOptionValue: invalid options.
        UnsupportedOperation: the format does not support a type or a metadata key.
    """
    metadata = metadata or {}
    envelope = CDC_DECODERS.get(options.format)
    known = envelope.KEYS if envelope is not None else {}
    for column, key in metadata.items():
        if key not in known:
            raise UnsupportedOperation(
                f"format {options.format!r} has no metadata {key!r} for column {column!r}",
                hint=f"metadata: {', '.join('value.' + k for k in known)}" if known else "remove the METADATA column",
            )
    if envelope is not None:
        return envelope(fields, options, metadata)
    return ROW_DECODERS.find(options.format)(fields, options)


def open_encoder(fields: Sequence[DataField], options: FormatOptions) -> Encoder:
    """An encoder for columns of a table. Raises as `open_decoder`."""
    return ENCODERS.find(options.format)(fields, options)
