"""A screen of Xvfb, which is in memory, and pictures of it."""

import os
import struct
import time
import zlib

PATIENCE_SECONDS = 90
SIZE = (640, 400)


class Picture:
    """What a screen of Xvfb shows: the file that it keeps is an XWD dump."""

    def __init__(self, data):
        fields = struct.unpack(">25I", data[:100])
        self.width, self.height, line, colours = fields[4], fields[5], fields[12], fields[19]
        begin = fields[0] + colours * 12
        self.rows = [data[begin + y * line:begin + y * line + self.width * 4] for y in range(self.height)]

    def colours(self):
        return len({row[x:x + 3] for row in self.rows for x in range(0, len(row), 4)})

    def cropped(self, margin=16):
        """The part that is not black, as rows of red, green and blue."""
        black = bytes(3)
        inside = [
            [x for x in range(self.width) if row[x * 4:x * 4 + 3] != black] for row in self.rows
        ]
        used = [y for y, columns in enumerate(inside) if columns]
        left = max(0, min(columns[0] for columns in inside if columns) - margin)
        right = min(self.width, max(columns[-1] for columns in inside if columns) + margin + 1)
        rows = self.rows[max(0, used[0] - margin):used[-1] + margin + 1]
        return [b"".join(row[x * 4:x * 4 + 3][::-1] for x in range(left, right)) for row in rows]


def screen_command(directory):
    """Starts a screen that is kept in the directory; it says its number when it is there."""
    return ["Xvfb", "-displayfd", "1", "-screen", "0", "%dx%dx24" % SIZE, "-fbdir", directory, "-nolisten", "tcp"]


def settled_picture(directory, is_shown):
    """The picture of the screen once that is shown, with text, and nothing is being drawn; None where that takes too long."""
    end = time.monotonic() + PATIENCE_SECONDS
    last = None
    while time.monotonic() < end:
        with open(os.path.join(directory, "Xvfb_screen0"), "rb") as file:
            picture = Picture(file.read())
        is_drawn = is_shown() and picture.colours() >= 32
        if is_drawn and last and last.rows == picture.rows:
            return picture
        last = picture if is_drawn else None
        time.sleep(0.1)
    return None


def write_png(path, rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))
