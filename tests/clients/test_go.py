"""The Go client as the Python one is tested, and its records against berth's own codec."""
import os
import shutil
import subprocess
import tempfile
import unittest

from door import TOP
from test_plugin import Base

SOURCES = os.path.join(TOP, "proto", "clients", "go")


@unittest.skipUnless(shutil.which("go"), "there is no go")
class Go(Base, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        program = os.path.join(cls.folder, "example")
        subprocess.run(["go", "build", "-o", program, "./example"], cwd=SOURCES, check=True)
        cls.command = [program]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_its_own_tests(self):
        done = subprocess.run(["go", "test", "./..."], cwd=SOURCES, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = subprocess.run(["gofmt", "-l", "."], cwd=SOURCES, text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
