import countdownd

for event in countdownd.Client().watch(match=["login/*"]):
    print(event.type, event.key, event.remaining)
