"""Record: a message, or a value in one, with named attributes instead of numbered fields.

    pod.labels[0].key          what was not sent is zero, empty, or a record of which that is true
    PluginAnswer(id=7, scores=[PluginOpinion(node="a", score=90)])

The one idea: fields are read out of the decoded map when they are asked for, since a plugin looks at few of many.
Texts may hold any bytes; those that are no UTF-8 come and go as surrogates (PEP 383): text.encode("utf-8",
"surrogateescape") has them.
"""
import msgpack

FRAME_MAX = 16 << 20  # bytes; berth sends no longer frame and reads none
ZERO = {bool: False, int: 0, str: ""}
OPTIONS = dict(raw=False, unicode_errors="surrogateescape", strict_map_key=False)


class Malformed(ValueError):
    """Bytes that are no record, or not this one."""


class Record:
    """The base of the classes in names.py, whose FIELDS say tag and type of each field by its name."""
    NUMBER, NAME = 0, ""  # of a message; else it is a value that messages carry
    FIELDS = {}

    def __init__(self, **values):
        self.__dict__["_wire"] = {}
        for name, value in values.items():
            setattr(self, name, value)

    def __getattr__(self, name):
        if name not in self.FIELDS:
            raise AttributeError("%s has no field %r" % (type(self).__name__, name))
        tag, kind = self.FIELDS[name]
        value = _read(self._wire[tag], kind) if tag in self._wire else _zero(kind)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name, value):
        if name not in self.FIELDS:
            raise AttributeError("%s has no field %r" % (type(self).__name__, name))
        self.__dict__[name] = value

    def __eq__(self, other):
        return type(self) is type(other) and to_wire(self) == to_wire(other)

    def __repr__(self):
        there = ["%s=%r" % (name, getattr(self, name)) for name, (tag, kind) in self.FIELDS.items()
                 if _write(getattr(self, name), kind)]
        return "%s(%s)" % (type(self).__name__, ", ".join(there))


def _zero(kind):
    return [] if isinstance(kind, list) else ZERO[kind] if kind in ZERO else kind()


def _read(value, kind):
    """A value of the decoded map as the field's type has it."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            raise Malformed("%s is not a list" % type(value).__name__)
        return [_read(item, kind[0]) for item in value]
    if kind in ZERO:
        if type(value) is not kind:
            raise Malformed("%s is not %s" % (type(value).__name__, kind.__name__))
        return value
    return from_wire(kind, value)


def _write(value, kind):
    """The other way; what is zero or empty comes out as something false."""
    if isinstance(kind, list):
        return [_write(item, kind[0]) for item in value]
    if kind in ZERO:
        if type(value) is not kind:
            raise TypeError("%r is not %s" % (value, kind.__name__))
        return value
    if type(value) is not kind:
        raise TypeError("%r is not %s" % (value, kind.__name__))
    return to_wire(value)


def from_wire(kind, wire):
    """A record of that class, of a map from tags to values."""
    if not isinstance(wire, dict):
        raise Malformed("%s is no record" % type(wire).__name__)
    record = kind.__new__(kind)
    record.__dict__["_wire"] = wire
    return record


def to_wire(record):
    """The map from tags to values that the record is as bytes, without what is zero."""
    written = [(tag, _write(getattr(record, name), kind)) for name, (tag, kind) in record.FIELDS.items()]
    return {tag: value for tag, value in written if value}


def as_dict(records):
    """Records of a name and a value, such as labels or quantities, as a dictionary."""
    pairs = [list(record.FIELDS)[:2] for record in records[:1]]
    return {getattr(record, pairs[0][0]): getattr(record, pairs[0][1]) for record in records}


def encode(*records):
    """The bytes of records, one behind the other."""
    return b"".join(msgpack.packb(to_wire(record), unicode_errors="surrogateescape") for record in records)


def maps(data):
    """The values in data, one behind the other; with sizes that data itself bounds."""
    unpacker = msgpack.Unpacker(max_buffer_size=max(len(data), 1), **OPTIONS)
    unpacker.feed(data)
    end = 0
    try:
        for value in unpacker:
            end = unpacker.tell()
            yield value
    except (msgpack.UnpackException, ValueError, TypeError) as error:
        raise Malformed(str(error) or type(error).__name__) from error
    if end != len(data):
        raise Malformed("it breaks off")
