"""Wapiti text models."""
MAGIC = b"#mdl#"
def read_wapiti(data, source="model"):
    raise NotImplementedError
