"""A screen of Xvfb, which is in memory, and pictures of it by ImageMagick."""

import subprocess
import time

PATIENCE_SECONDS = 90


def start_screen(size="640x400"):
    """The process of a screen, which ends with this one, and the number of its display."""
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", size + "x24", "-nolisten", "tcp"]
    process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return process, process.stdout.readline().strip()


def save_picture(display, path, is_shown):
    """Saves the part of the screen that is not black, if is_shown() and nothing is drawn; False if that takes too long."""
    shot = ["import", "-display", ":" + display, "-window", "root"]
    end = time.monotonic() + PATIENCE_SECONDS
    last = None
    while time.monotonic() < end:
        picture = subprocess.run([*shot, "ppm:-"], capture_output=True, check=True).stdout
        count = ["identify", "-format", "%k", "ppm:-"]
        colours = subprocess.run(count, input=picture, capture_output=True, check=True).stdout
        # A frame without text has fewer colours.
        is_drawn = is_shown() and int(colours) >= 32
        if is_drawn and picture == last:
            subprocess.run([*shot, "png:" + path], check=True)
            subprocess.run(["mogrify", "-bordercolor", "black", "-border", "1", "-trim", "-border", "16", "+repage", path], check=True)
            return True
        last = picture if is_drawn else None
        time.sleep(0.1)
    return False
