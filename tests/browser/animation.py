"""Screenshots with captions, joined to an animated WebP by the browser's own encoder.

The file is a RIFF container (https://developers.google.com/speed/webp/docs/riff_container): a header, then one frame after the other.
Each frame holds the rectangle that differs from the frame before.
"""

from __future__ import annotations

import base64
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from playwright.sync_api import Page


@dataclass(frozen=True)
class Shot:
    """A screenshot, and what is written below it."""

    png: bytes
    caption: str
    progress: float
    """The share of the walk that is done."""
    milliseconds: int
    pointer: tuple[float, float] | None


@dataclass(frozen=True)
class Part:
    """The rectangle of a frame that differs from the frame before, as a WebP of one picture."""

    x: int
    y: int
    width: int
    height: int
    webp: bytes


CAPTION_HEIGHT = 46
_DRAW = """
async ([png, caption, progress, pointer, quality, captionHeight]) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const width = image.width - image.width % 2, height = image.height + captionHeight - (image.height + captionHeight) % 2;
  const canvas = new OffscreenCanvas(width, height), c = canvas.getContext("2d", { willReadFrequently: true });
  c.drawImage(image, 0, 0);
  if (pointer) {
    c.translate(...pointer);
    c.beginPath();
    for (const [x, y] of [[0, 0], [0, 18], [4.2, 14.4], [7, 21], [10, 19.7], [7.2, 13.3], [12.8, 12.8]]) c.lineTo(x, y);
    c.closePath();
    c.fillStyle = "#111"; c.strokeStyle = "#fff"; c.lineWidth = 3;
    c.stroke(); c.fill();
    c.setTransform(1, 0, 0, 1, 0, 0);
  }
  const top = height - captionHeight;
  c.fillStyle = "#1c2733"; c.fillRect(0, top, width, captionHeight);
  c.fillStyle = "#4da3ff"; c.fillRect(0, top, width * progress, 3);
  c.fillStyle = "#fff"; c.font = "17px 'DejaVu Sans', sans-serif"; c.textBaseline = "middle";
  c.fillText(caption, 16, top + captionHeight / 2 + 1, width - 32);
  const now = c.getImageData(0, 0, width, height), old = window.before;
  let [left, right, upper, lower] = [width, -1, height, -1];
  if (old && old.width === width && old.height === height) {
    const a = new Uint32Array(now.data.buffer), b = new Uint32Array(old.data.buffer);
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) {
      const x = i % width, y = (i - x) / width;
      left = Math.min(left, x); right = Math.max(right, x); upper = Math.min(upper, y); lower = Math.max(lower, y);
    }
  } else [left, right, upper, lower] = [0, width - 1, 0, height - 1];
  window.before = now;
  if (right < 0) return null;
  left -= left % 2; upper -= upper % 2;  // the format stores halves of offsets
  const part = new OffscreenCanvas(right - left + 1, lower - upper + 1);
  part.getContext("2d").drawImage(canvas, -left, -upper);
  const bytes = new Uint8Array(await (await part.convertToBlob({ type: "image/webp", quality })).arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return [left, upper, part.width, part.height, btoa(text), width, height];
}
"""


def still(page: Page, png: bytes, quality: float = 0.9) -> bytes:
    """A screenshot as WebP."""
    page.evaluate("() => { window.before = null; }")
    found = page.evaluate(_DRAW, [base64.b64encode(png).decode(), "", 0, None, quality, 0])
    return base64.b64decode(found[4])


def write_animation(page: Page, shots: Sequence[Shot], to: Path, quality: float = 0.8) -> None:
    """Write the shots as one animated WebP that repeats forever.

    Args:
        page: an empty page of a Chromium, which encodes the pictures.
        shots: all of the same size.
        quality: 0 to 1, of the lossy encoder.
    """
    page.evaluate("() => { window.before = null; }")
    frames: list[tuple[Part, int]] = []
    size = (0, 0)
    for shot in shots:
        given = [
            base64.b64encode(shot.png).decode(),
            shot.caption,
            shot.progress,
            shot.pointer,
            quality,
            CAPTION_HEIGHT,
        ]
        found = page.evaluate(_DRAW, given)
        if found is None:  # nothing differs: the frame before stays longer
            part, milliseconds = frames[-1]
            frames[-1] = (part, milliseconds + shot.milliseconds)
            continue
        *place, webp, width, height = found
        size = size if any(size) else (width, height)
        frames.append((Part(*place, base64.b64decode(webp)), shot.milliseconds))
    header = struct.pack("<I", 0x02) + _uint24(size[0] - 1) + _uint24(size[1] - 1)  # 0x02: animated, without alpha
    chunks = [_chunk(b"VP8X", header), _chunk(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0))]
    chunks += [_chunk(b"ANMF", _frame(part, milliseconds)) for part, milliseconds in frames]
    body = b"WEBP" + b"".join(chunks)
    to.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


def _frame(part: Part, milliseconds: int) -> bytes:
    """The payload of an ANMF chunk: place, size, duration, and the picture's own chunk."""
    place = b"".join(map(_uint24, (part.x // 2, part.y // 2, part.width - 1, part.height - 1, milliseconds)))
    picture = b"".join(_chunk(name, data) for name, data in _chunks(part.webp) if name in (b"VP8 ", b"VP8L", b"ALPH"))
    return place + b"\x02" + picture  # 0x02: the rectangle replaces what was there, it is not blended


def _chunks(webp: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a WebP of one picture."""
    at = 12
    while at + 8 <= len(webp):
        name, length = struct.unpack_from("<4sI", webp, at)
        yield name, webp[at + 8 : at + 8 + length]
        at += 8 + length + length % 2


def _chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def _uint24(value: int) -> bytes:
    return value.to_bytes(3, "little")
