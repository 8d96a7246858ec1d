"""The sizes of the measures."""


class Sizes:
    """The sizes of the measures; a quick trial only shows that everything works."""

    def __init__(self, quick):
        self.many = 50_000 if quick else 1_000_000
        self.flood = 100_000 if quick else 2_000_000
        self.alone = 5_000 if quick else 100_000
        self.together = 10_000 if quick else 300_000
        self.pipelined = 50_000 if quick else 1_000_000
        self.endings = 5_000 if quick else 100_000
        self.spread = 1_000 if quick else 10_000
        self.changes = 640 if quick else 10_240
        self.watched_seconds = 2 if quick else 10
        self.idle_seconds = 3 if quick else 60
        self.programs = 5 if quick else 100
        self.timers = 2_000 if quick else 20_000
        self.keys = (1_000, 10_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
        self.connections = (1, 10, 100) if quick else (1, 10, 100, 1_000)
