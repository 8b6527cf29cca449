"""Encodes messages of Jupyter kernels and of the bridge of a notebook."""

import json


def encoded(text):
    """
    Encodes a text as UTF-8, which has no halves of surrogate pairs. Two halves that belong together become their character, a single
    one becomes a replacement character.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def packed(message):
    """Serves as `Session.packer`: the output of a cell may contain halves of surrogate pairs, for which Jupyter's own packer fails."""
    # Imported late, so that processes without sessions start faster.
    from jupyter_client.jsonutil import json_clean, json_default
    from jupyter_client.session import json_packer

    try:
        return json_packer(message)
    except UnicodeEncodeError:
        clean = json_clean(message)
        return encoded(json.dumps(clean, default=json_default, ensure_ascii=False, allow_nan=False))
