"""GNOME Clocks with one running timer, on a screen of its own."""

import contextlib
import os
import subprocess

from measuring import Server, program

# Where the button is that starts the first timer, in a window as Clocks opens it.
START_BUTTON = ("434", "228")
SETTINGS = """
[org/gnome/clocks]
timers=[{'duration': <7200>, 'name': <'tea'>}]
[org/gnome/clocks/state/window]
panel-id='timer'
"""


def is_installed():
    with contextlib.suppress(Exception):
        return all(map(program, ("gnome-clocks", "Xvfb", "xdotool", "dbus-daemon")))
    return False


@contextlib.contextmanager
def clocks(directory):
    """Clocks, as a server. It has no files but these, and sees no other session."""
    settings = os.path.join(directory, "config", "glib-2.0", "settings")
    os.makedirs(settings)
    with open(os.path.join(settings, "keyfile"), "w") as file:
        file.write(SETTINGS)
    bus = os.path.join(directory, "bus")
    display = f":{os.getpid()}"
    environment = {
        "PATH": os.environ["PATH"], "HOME": directory, "XDG_RUNTIME_DIR": directory, "DISPLAY": display,
        "XDG_CONFIG_HOME": os.path.join(directory, "config"), "DBUS_SESSION_BUS_ADDRESS": f"unix:path={bus}",
        "GSETTINGS_BACKEND": "keyfile", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
    }

    def succeeds(*words):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return subprocess.run(["xdotool", *words], env=environment, capture_output=True, timeout=60).returncode == 0
        return False
    with Server(["Xvfb", display, "-screen", "0", "1000x800x24", "-nolisten", "tcp"],
                lambda: succeeds("getdisplaygeometry")), \
            Server(["dbus-daemon", "--session", "--nofork", f"--address=unix:path={bus}"], lambda: os.path.exists(bus)), \
            Server(["gnome-clocks"], lambda: succeeds("search", "--onlyvisible", "--class", "clocks"), environment) as server:
        server.name = "clocks"
        # Until the first frame has been drawn.
        yield server, lambda: succeeds("mousemove", *START_BUTTON, "click", "1")
