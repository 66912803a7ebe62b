"""Kubernetes quantities ("100m", "500Mi", "1.5e3") as exact fractions.

A check that rounds can miss the one millicore that a scheduler has given away twice, so nothing
here is a float.
"""
import re
from fractions import Fraction

DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
FORM = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE]?))")


def parse(text):
    """The value of a quantity; ValueError says which text is none."""
    found = FORM.fullmatch(str(text))
    if not found:
        raise ValueError("not a quantity: %r" % (text,))
    sign, digits, exponent, suffix = found.groups()
    value = Fraction(digits) if not digits.endswith(".") else Fraction(digits[:-1])
    if exponent:
        value *= Fraction(10) ** int(exponent[1:])
    elif suffix in BINARY:
        value *= Fraction(1024) ** BINARY[suffix]
    else:
        value *= Fraction(10) ** DECIMAL[suffix or ""]
    return -value if sign == "-" else value


def add(total, more):
    """Add one table of resources (name: quantity text or fraction) into another."""
    for name, amount in more.items():
        amount = amount if isinstance(amount, Fraction) else parse(amount)
        total[name] = total.get(name, Fraction(0)) + amount
    return total


def largest(one, other):
    """Resource by resource, the greater of two tables."""
    return {name: max(one.get(name, Fraction(0)), other.get(name, Fraction(0)))
            for name in set(one) | set(other)}


def requests_of(container):
    return add({}, container.get("resources", {}).get("requests", {}))


def of_pod(pod):
    """What a pod takes from its node: the running containers, or an init step where that is more.

    An init container with restartPolicy Always goes on running, beside all that come after it.
    """
    spec = pod["spec"]
    running, sidecars, starting = {}, {}, {}
    for container in spec.get("initContainers", []):
        if container.get("restartPolicy") == "Always":
            add(sidecars, requests_of(container))
            step = sidecars
        else:
            step = add(dict(sidecars), requests_of(container))
        starting = largest(starting, step)
    for container in spec.get("containers", []):
        add(running, requests_of(container))
    total = largest(add(running, sidecars), starting)
    add(total, spec.get("overhead", {}))
    total["pods"] = Fraction(1)
    return total
