"""Iceberg's Avro metadata, decompressed with the codecs of `format/avro`: pyiceberg reads Snappy with an optional package only."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from pyiceberg.io import FileIO, InputFile

from paimon_nb.format.avro.container import uncompressed_container

if TYPE_CHECKING:
    from pyiceberg.io import InputStream, OutputFile


class DecompressingIO(FileIO):
    """Reads the Avro files of another FileIO as if they were not compressed."""

    def __init__(self, files: FileIO) -> None:
        super().__init__(files.properties)
        self._files = files

    def new_input(self, location: str) -> InputFile:
        return _DecompressedFile(self._files.new_input(location))

    def new_output(self, location: str) -> OutputFile:
        return self._files.new_output(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        self._files.delete(location)


class _DecompressedFile(InputFile):
    def __init__(self, file: InputFile) -> None:
        super().__init__(file.location)
        self._file = file

    def __len__(self) -> int:
        return len(self._file)

    def exists(self) -> bool:
        return self._file.exists()

    def open(self, seekable: bool = True) -> InputStream:
        with self._file.open(seekable) as stream:
            return io.BytesIO(uncompressed_container(stream.read(), self.location))
