"""Decompresses the bodies of answers."""

from __future__ import annotations

import zlib
from typing import Iterator

import httpx

#: The only accepted encoding, since zlib can limit the size of what it decompresses at once.
ACCEPTED_ENCODING = "gzip"
#: Maximum size of a decompressed piece.
MAX_PIECE_BYTES = 1 << 20


class Unpacking:
    """Decompresses a body in pieces of limited size, since a few compressed bytes can become gigabytes."""

    def __init__(self, response: httpx.Response) -> None:
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in ("identity", ACCEPTED_ENCODING):
            raise httpx.DecodingError(
                f"the body has the encoding {encoding}, which the client does not accept", request=response.request
            )
        self._request = response.request
        self._inflate = zlib.decompressobj(31) if encoding == ACCEPTED_ENCODING else None

    def feed(self, piece: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            yield piece
            return
        while piece:
            if self._inflate.eof:
                raise httpx.DecodingError("the compressed body has data after its end", request=self._request)
            try:
                unpacked = self._inflate.decompress(piece, MAX_PIECE_BYTES)
            except zlib.error as error:
                raise httpx.DecodingError(str(error), request=self._request) from None
            piece = self._inflate.unconsumed_tail or self._inflate.unused_data
            if unpacked:
                yield unpacked

    def end(self) -> bytes:
        return b"" if self._inflate is None else self._inflate.flush()
