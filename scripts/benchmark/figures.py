"""How figures are written: three significant digits, and a unit that fits."""


def rate(value):
    return f"{value / 1e6:.2f} M/s" if value >= 1e6 else f"{value:,.0f}/s"


def microseconds(value):
    for limit, divisor, unit in ((1e3, 1, "µs"), (1e6, 1e3, "ms"), (float("inf"), 1e6, "s")):
        if value < limit:
            return f"{digits(value / divisor)} {unit}"


def milliseconds(value):
    return microseconds(value * 1e3)


def seconds(value):
    return microseconds(value * 1e6)


def share(value):
    return f"{value * 100:.1f} %"


def size(value):
    for limit, divisor, unit in ((2**10, 1, "bytes"), (2**20, 2**10, "KiB"), (float("inf"), 2**20, "MiB")):
        if value < limit:
            return f"{digits(value / divisor)} {unit}"


def megabytes(value):
    return f"{value / 1e6:g} MB"


def count(value):
    return f"{value:,.0f}"


def ratio(value):
    return f"1/{1 / value:,.0f}" if 0 < value < 0.01 else f"{value:.2f}"


def digits(value):
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"
