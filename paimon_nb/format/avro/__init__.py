"""The Avro object container: blocks, codecs and columnar decoding."""
