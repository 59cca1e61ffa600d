"""gate.py - full speed while programs start and end, the hosts' own speed while they run

Purpose: MPI's start on a host with an eighth of a core takes seconds, which an application's own time does not hold.
The test applications wait at a socket after their start (--gate, tests/apps/common.h) and stay connected until their
last run has ended; meanwhile, and only then, the hosts have their quotas.

Invariants: while any program is inside, all quotas stand; a program is let in only after they do.
"""

import os
import socket
import threading
import time


class Gate:
    """Listens at `path` from creation to close(). `limit(on)` sets (True) or lifts (False) the quotas."""

    def __init__(self, path, limit):
        self.path, self.limit = path, limit
        self.inside = 0
        self.passed = 0                     # programs that were ever let in
        self.since = None                   # when the last of them was, by time.monotonic()
        self.failure = None                 # what went wrong in a thread, for the main program to raise
        self.lock = threading.Lock()
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.exists(path):
            os.unlink(path)
        self.server.bind(path)
        self.server.listen(16)
        limit(False)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(client,), daemon=True).start()

    def _step(self, change):
        with self.lock:
            before, self.inside = self.inside, self.inside + change
            if change > 0:
                self.passed += 1
                self.since = time.monotonic()
            if (before == 0) != (self.inside == 0):
                try:
                    self.limit(self.inside > 0)
                except Exception as e:
                    self.failure = e
                    return False
        return True

    def _one(self, client):
        """Until the program closes its end, also by dying. One that is not answered fails."""
        with client:
            try:
                if self._step(+1):
                    client.sendall(b"1")
                    while client.recv(64):
                        pass
            except OSError:
                pass
        self._step(-1)

    def check(self):
        if self.failure:
            raise self.failure

    def close(self):
        self.server.close()
        if os.path.exists(self.path):
            os.unlink(self.path)
