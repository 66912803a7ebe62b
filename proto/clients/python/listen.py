#!/usr/bin/python3
"""Listens in: which pod goes where, as the scheduler tells it to the binder. usage: listen.py RUN_DIR|RECORDING"""
import os
import sys

import berth

place = sys.argv[1]
for heard in berth.tap(place) if os.path.isdir(place) else berth.recording(place):
    if isinstance(heard.message, berth.Bind) and heard.tapped.sent:
        print("%s/%s to %s" % (heard.message.namespace_name, heard.message.name, heard.message.node_name), flush=True)
