"""The Python names and records against berth's own codec: the bytes of every message, and what reads wrong."""
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest

from door import TOP, berth, build_frame

# What codec_text.c prints, written down once more.
ESCAPED = {ord('"'): '\\"', ord("\\"): "\\\\"}
ESCAPED.update({c: "\\x%02x" % c for c in [*range(32), 127]})
ESCAPED.update({0xdc00 + c: "\\x%02x" % c for c in range(128, 256)})


def text_of(record):
    def value(v, kind):
        if isinstance(kind, list):
            return "[%s]" % " ".join(value(item, kind[0]) for item in v)
        if kind is bool:
            return "true"
        if kind is str:
            return '"%s"' % v.translate(ESCAPED)
        return str(v) if kind is int else "{%s}" % text_of(v)
    return " ".join("%s=%s" % (name, value(getattr(record, name), kind)) for name, (_, kind) in record.FIELDS.items()
                    if berth.to_wire(type(record)(**{name: getattr(record, name)})))


def words(text):
    """In whatever order the fields stood when the line was written."""
    return sorted(re.split(r"[ \[\]{}]+", text))


def golden():
    """(name, text, bytes) of every message, as berth's codec has them."""
    with open(os.path.join(TOP, "tests", "golden", "frames.txt"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    for text, data in zip(lines[::2], lines[1::2]):
        yield (*text.split(" ", 1), bytes.fromhex(data))


class Golden(unittest.TestCase):
    def test_every_message_reads_and_writes_as_berth_does(self):
        kinds = {kind.NAME: kind for kind in berth.MESSAGES.values()}
        seen = set()
        for name, text, data in golden():
            (wire,) = berth.maps(data)
            record = berth.from_wire(kinds[name], wire)
            self.assertEqual(words(text), words(text_of(record)))
            self.assertEqual(data, berth.encode(record), name)
            again = kinds[name](**{field: getattr(record, field) for field in kinds[name].FIELDS})
            self.assertEqual(record, again)
            seen.add(name)
        self.assertEqual(seen & set(kinds), seen)
        self.assertGreater(len(seen), 80)

    def test_the_schema_has_every_field(self):
        with open(os.path.join(TOP, "proto", "clients", "messages.schema.json"), encoding="utf-8") as file:
            records = json.load(file)["$defs"]
        types = {bool: "boolean", int: "integer", str: "string"}
        for kind in berth.MESSAGES.values():
            there = records[kind.NAME]
            self.assertEqual(there["x-number"], kind.NUMBER)
            self.assertEqual({n: p["x-tag"] for n, p in there["properties"].items()}, {n: t for n, (t, _) in kind.FIELDS.items()})
            for name, (_, of) in kind.FIELDS.items():
                if not isinstance(of, list) and of in types:
                    self.assertEqual(there["properties"][name]["type"], types[of])

    def test_the_header_has_every_message(self):
        checks = "".join("_Static_assert(BERTH_MSG_%s == %d, \"\");\n_Static_assert(sizeof(BERTH_PLUGIN_STEP_FILTER) == 7, \"\");\n"
                         % (kind.NAME.upper(), number) for number, kind in berth.MESSAGES.items())
        checks += "".join("_Static_assert(BERTH_TAG_%s_%s == %d, \"\");\n" % (kind.NAME.upper(), name.upper(), tag)
                          for kind in berth.MESSAGES.values() for name, (tag, _) in kind.FIELDS.items())
        header = os.path.join(TOP, "proto", "clients", "c", "berth_messages.h")
        done = subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-include", header, "-x", "c", "-"],
                              input=checks, text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Records(unittest.TestCase):
    def test_what_is_absent_is_zero(self):
        ask = berth.from_wire(berth.PluginAsk, {})
        self.assertEqual((ask.id, ask.step, ask.nodes, ask.pod.name, ask.pod.scheduled.status), (0, "", [], "", ""))
        self.assertEqual(berth.encode(ask), b"\x80")

    def test_unknown_tags_are_skipped(self):
        (wire,) = berth.maps(bytes.fromhex("83" "01a161" "7f92c0c3" "cd0400a162"))
        self.assertEqual(berth.from_wire(berth.Label, wire), berth.Label(key="a"))

    def test_a_misspelt_field_is_told(self):
        with self.assertRaisesRegex(AttributeError, "no field 'labls'"):
            berth.Pod().labls
        with self.assertRaisesRegex(AttributeError, "no field 'nod'"):
            berth.PluginOpinion(nod="a")
        with self.assertRaisesRegex(TypeError, "'7' is not int"):
            berth.encode(berth.PluginOpinion(node="a", score="7"))

    def test_another_type_is_refused_where_it_is_read(self):
        for kind, wire, name in ((berth.Label, {1: 5}, "key"), (berth.PluginAsk, {1: True}, "id"), (berth.PluginAsk, {4: "x"}, "nodes"),
                                 (berth.PluginAsk, {4: ["x"]}, "nodes"), (berth.PluginAsk, {3: []}, "pod")):
            with self.assertRaises(berth.Malformed):
                getattr(berth.from_wire(kind, wire), name)

    def test_bytes_that_are_no_record(self):
        for data in ("81", "8101", "81c1c1", "dd0fffffff", "df0fffffff", "c6ffffffff", "81" "01" + "91" * 5000, "8101d9", "818000"):
            with self.assertRaises(berth.Malformed, msg=data):
                list(berth.maps(bytes.fromhex(data)))


class Recordings(unittest.TestCase):
    def test_a_recording_is_read(self):
        ask = berth.PluginAsk(id=3, step="score", pod=berth.Pod(name="p"))
        frame = build_frame(ask, 7, 4711).decode("utf-8", "surrogateescape")
        tapped = [berth.Tapped(process="scheduler", sent=True, tap_sequence=1, frame=frame), berth.Tapped(frame="\x01\x99")]
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"BERTHTAP2\n")
            for record in tapped:
                data = berth.encode(record)
                file.write(struct.pack(">II", len(data), 0) + data)
            file.write(struct.pack(">II", 0, 5))
            file.flush()
            heard = list(berth.recording(file.name))
        self.assertEqual([h.tapped for h in heard], tapped)
        self.assertEqual((heard[0].envelope.link, heard[0].message), (7, ask))
        self.assertEqual((heard[1].envelope, heard[1].message), (None, None))
