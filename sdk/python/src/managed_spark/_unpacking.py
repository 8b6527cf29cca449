"""Bodies of answers, which may be sent compressed."""

from __future__ import annotations

import zlib
from typing import Iterator

import httpx

#: The encodings that are asked for. Only one that can be unpacked in pieces of a bounded size is.
ACCEPTED = "gzip"
#: The most that is unpacked at once.
PIECE = 1 << 20


class Unpacking:
    """Unpacks a body in small pieces, however small a part of it they were made from."""

    def __init__(self, response: httpx.Response) -> None:
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in ("identity", ACCEPTED):
            raise httpx.DecodingError(f"it is encoded as {encoding}, which was not asked for", request=response.request)
        self._request = response.request
        self._inflate = zlib.decompressobj(31) if encoding == ACCEPTED else None

    def feed(self, piece: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            yield piece
            return
        while piece:
            if self._inflate.eof:
                raise httpx.DecodingError("it goes on after its end", request=self._request)
            try:
                unpacked = self._inflate.decompress(piece, PIECE)
            except zlib.error as error:
                raise httpx.DecodingError(str(error), request=self._request) from None
            piece = self._inflate.unconsumed_tail or self._inflate.unused_data
            if unpacked:
                yield unpacked

    def end(self) -> bytes:
        return b"" if self._inflate is None else self._inflate.flush()
