"""How kernels of Jupyter and the bridge of a notebook write what they say."""

import json


def encoded(text):
    """
    A text in UTF-8, which has no halves of surrogate pairs: two that belong together become their character, another one
    a replacement character.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def packed(message):
    """For `Session.packer`: what a cell prints, raises or shows may have halves, at which Jupyter's own packer fails."""
    # Not earlier: whoever has no need of it begins without.
    from jupyter_client.jsonutil import json_clean, json_default
    from jupyter_client.session import json_packer

    try:
        return json_packer(message)
    except UnicodeEncodeError:
        clean = json_clean(message)
        return encoded(json.dumps(clean, default=json_default, ensure_ascii=False, allow_nan=False))
