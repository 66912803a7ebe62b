"""Pods that keep coming while a case does something to the scheduler."""
import threading

import kube
import objects


class Feeder:
    """Creates `total` pods in a thread, never more than allow() has said so far."""

    def __init__(self, client, total):
        self.client, self.total = client, total
        self.allowed = self.created = 0
        self.error, self.ended, self.changed = None, False, threading.Condition()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            self.client.create_many(kube.PODS, self.bodies(), threads=4, created=self.count,
                                    patience=60)
        except Exception as error:  # told to the case by finish()
            self.error = error

    def bodies(self):
        for number in range(self.total):
            with self.changed:
                self.changed.wait_for(lambda: self.ended or number < self.allowed)
                if self.ended:
                    return
            yield next(objects.small_pods(1, first=number))

    def count(self):
        with self.changed:
            self.created += 1
            self.changed.notify_all()

    def allow(self, count):
        with self.changed:
            self.allowed = max(self.allowed, min(count, self.total))
            self.changed.notify_all()

    def wait_created(self, count, seconds=120):
        with self.changed:
            return self.changed.wait_for(lambda: self.created >= count, seconds)

    def finish(self, seconds=300):
        """Let all the rest come, and wait for it."""
        self.allow(self.total)
        self.thread.join(seconds)
        self.stop()
        if self.error:
            raise self.error

    def stop(self):
        with self.changed:
            self.ended = True
            self.changed.notify_all()
