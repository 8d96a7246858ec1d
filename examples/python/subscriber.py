import contextlib, os, time, varlink

address, since = f"unix:{os.environ['XDG_RUNTIME_DIR']}/countdownd/io.countdownd", None
while True:
    with contextlib.suppress(OSError), varlink.Client.new_with_address(address) as client:
        with client.open("io.countdownd") as countdowns:
            for reply in countdowns.Watch(match=["login/*"], since=since, _more=True):
                for event in reply["events"]:
                    since = event.get("revision", since)
                    print(event["type"], event.get("key"), event.get("remainingUSec"))
    time.sleep(1)
