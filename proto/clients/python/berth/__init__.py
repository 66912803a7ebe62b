"""berth's bus for Python: all messages by name, plugins, and the tap. README.md beside the folder explains it."""
from .names import *  # noqa: F401,F403
from .plugin import Plugin  # noqa: F401
from .record import Malformed, Record, as_dict, encode, from_wire, maps, to_wire  # noqa: F401
from .tap import Heard, recording, tap  # noqa: F401
