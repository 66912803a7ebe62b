"""Each step that there is reaches the method of its name, and what that gives back becomes the answer."""
import contextlib
import io
import unittest

from door import berth
from berth.plugin import POINTS

DENY = {"permit", "reserve", "pre_filter", "pre_enqueue", "pre_bind", "bind"}


def answer(step, gives):
    class Asked(berth.Plugin):
        name = "asked"

    setattr(Asked, POINTS[step], lambda self, ask: gives)
    with contextlib.redirect_stderr(io.StringIO()):
        return Asked().on_plugin_ask(berth.PluginAsk(id=7, step=step))


class Steps(unittest.TestCase):
    def test_methods_are_names(self):
        self.assertGreaterEqual(set(POINTS), {"filter", "score", "permit"})
        for method in POINTS.values():
            self.assertRegex(method, r"^[a-z]+(_[a-z]+)*$")

    def test_nothing_and_a_whole_answer(self):
        for step in POINTS:
            self.assertEqual(answer(step, None), berth.PluginAnswer(id=7), step)
            self.assertEqual(answer(step, berth.PluginAnswer(reason="so")), berth.PluginAnswer(id=7, reason="so"), step)

    def test_no(self):
        for step, method in POINTS.items():
            said = answer(step, ("deny", "so"))
            if method in DENY:
                self.assertEqual(said, berth.PluginAnswer(id=7, verdict="deny", reason="so"), step)
            else:
                self.assertTrue(said.error, step)

    def test_a_word_is_the_verdict(self):
        for step, word in (("permit", "wait"), ("bind", "bound")):
            self.assertEqual(answer(step, word), berth.PluginAnswer(id=7, verdict=word), step)

    def test_a_step_without_a_method(self):
        class Silent(berth.Plugin):
            name = "silent"
        for step in [*POINTS, "of-the-future", ""]:
            with contextlib.redirect_stderr(io.StringIO()):
                said = Silent().on_plugin_ask(berth.PluginAsk(id=7, step=step))
            self.assertEqual((said.id, bool(said.error)), (7, True), step)
