"""All lines, in the order in which they are measured."""

from benchmark.floors import floors
from benchmark.growth import growth
from benchmark.standing import flood, idle, many, programs
from benchmark.traffic import endings, fanout, get, instant, start, ticks

LINES = {
    "start": start, "get": get, "endings": endings, "instant": instant, "fanout": fanout, "ticks": ticks, "many": many,
    "idle": idle, "programs": programs, "flood": flood, "floors": floors, "growth": growth,
}
