"""Stands for whoever shows notifications on a desktop: owns the name on the session bus, prints each call as a line of
JSON, and does what the lines of its standard input say: `choose ID ACTION`, `close ID REASON`.

usage: notifications.py [--capabilities NAME,NAME…] [--silent] [--refuse COUNT]

With --silent it never answers a Notify; with --refuse it answers the first ones with an error.
"""

import argparse
import json
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
DEFINITION = f"""<node><interface name="{NAME}">
<method name="GetCapabilities"><arg type="as" direction="out"/></method>
<method name="GetServerInformation">
  <arg type="s" direction="out"/><arg type="s" direction="out"/><arg type="s" direction="out"/><arg type="s" direction="out"/>
</method>
<method name="Notify">
  <arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
  <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
  <arg type="a{{sv}}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/>
</method>
<method name="CloseNotification"><arg type="u" direction="in"/></method>
</interface></node>"""
ARGUMENTS = ["app", "replaces", "icon", "summary", "body", "actions", "hints", "timeout"]

parser = argparse.ArgumentParser()
parser.add_argument("--capabilities", default="actions,body,body-markup")
parser.add_argument("--silent", action="store_true")
parser.add_argument("--refuse", type=int, default=0)
options = parser.parse_args()
loop = GLib.MainLoop()
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
last = 0


def tell(member, **values):
    print(json.dumps({"member": member, **values}), flush=True)


def answer(connection, sender, path, interface, member, parameters, invocation):
    global last
    values = parameters.unpack()
    if member == "GetCapabilities":
        tell(member)
        invocation.return_value(GLib.Variant("(as)", ([name for name in options.capabilities.split(",") if name],)))
    elif member == "GetServerInformation":
        invocation.return_value(GLib.Variant("(ssss)", ("Stand", "tests", "2.0", "1.2")))
    elif member == "CloseNotification":
        tell(member, id=values[0])
        invocation.return_value(None)
    else:
        call = dict(zip(ARGUMENTS, values))
        if options.refuse > 0:
            options.refuse -= 1
            tell("refused", **call)
            invocation.return_dbus_error(f"{NAME}.Error.ExcessNotificationGeneration", "too many")
            return
        last = call["replaces"] or last + 1
        tell(member, id=last, **call)
        if not options.silent:
            invocation.return_value(GLib.Variant("(u)", (last,)))


def emit(member, signature, *values):
    bus.emit_signal(None, PATH, NAME, member, GLib.Variant(signature, values))


def obey(source, condition):
    line = sys.stdin.readline().split()
    if not line:
        loop.quit()
        return False
    if line[0] == "choose":
        emit("ActionInvoked", "(us)", int(line[1]), line[2])
    else:
        emit("NotificationClosed", "(uu)", int(line[1]), int(line[2]))
    return True


bus.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(DEFINITION).interfaces[0], answer, None, None)
Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.NONE, lambda *_: tell("ready"), None)
GLib.io_add_watch(sys.stdin.fileno(), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, obey)
bus.set_exit_on_close(True)
loop.run()
