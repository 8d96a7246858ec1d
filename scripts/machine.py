"""Systems for trials: the machine of Tests/System/Manager, a screen of Xvfb, which is in memory, and pictures of it by ImageMagick."""

import os
import subprocess
import sys
import time

from servers import PATIENCE, ROOT

MACHINE = os.path.join(ROOT, "Tests/System/Manager/Machine/machine")


class Machine:
    """A systemd of its own over a tree of files, until its end."""

    def __init__(self, *words):
        self.process = subprocess.Popen([MACHINE, "start", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.folder = self.process.stdout.readline().strip()
        if not os.path.isdir(self.folder):
            sys.exit(f"{os.path.basename(sys.argv[0])}: no machine: {self.folder}")

    def command(self, user, *words):
        return [MACHINE, "run", self.folder, user, *words]

    def run(self, user, *words):
        return subprocess.run(self.command(user, *words), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)

    def end(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


def start_screen(size="640x400"):
    """The process of a screen, which ends with this one, and the number of its display."""
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", size + "x24", "-nolisten", "tcp"]
    process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return process, process.stdout.readline().strip()


def save_picture(display, path, is_shown):
    """Saves the part of the screen that is not black, if is_shown() and nothing is drawn; False if that takes too long."""
    shot = ["import", "-display", ":" + display, "-window", "root"]
    end = time.monotonic() + PATIENCE
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
