"""CRF++ text models."""
MAGIC = b"version: "
def read_crfpp(data, source="model"):
    raise NotImplementedError
