"""Hostile robots: the simulated controller behind a proxy that spoils what it says."""

import contextlib
import os
import random
import selectors
import socket
import subprocess
import threading
import time

from ran import Ran

PORTS = (30004, 30003, 29999)


class Proxy(threading.Thread):
    """Stands before a robot, and spoils what it says."""

    def __init__(self, address, behind, seed):
        super().__init__(daemon=True)
        self.behind, self.random, self.is_over = behind, random.Random(seed), False
        self.kind = self.random.choice(["flip", "cut", "close", "silent", "insert", "flood", "huge", "well"])
        # Bytes of the robot that are left as they are.
        self.after = self.random.choice([0, 3, 40, 400, 4000, 20_000, 60_000])
        self.spoilt_port = self.random.choice([30004, 30004, 30004, 29999])
        self.listeners = [socket.create_server((address, port)) for port in PORTS]

    def run(self):
        while not self.is_over:
            with selectors.DefaultSelector() as selector:
                for listener in self.listeners:
                    selector.register(listener, selectors.EVENT_READ)
                for key, _ in selector.select(0.1):
                    try:
                        client, _ = key.fileobj.accept()
                        port = key.fileobj.getsockname()[1]
                        robot = socket.create_connection((self.behind, port), 5)
                    except OSError:
                        continue
                    threading.Thread(target=self.pass_on, args=(client, robot, None), daemon=True).start()
                    threading.Thread(target=self.pass_on, args=(robot, client, port), daemon=True).start()

    def pass_on(self, source, target, port):
        """Bytes in one direction; those of the robot are spoilt if its port is the one."""
        passed = 0
        try:
            while data := source.recv(4096):
                if port == self.spoilt_port and passed + len(data) > self.after and self.kind != "well":
                    data = self.spoilt(data)
                if data is None:
                    break
                target.sendall(data)
                passed += len(data)
        except OSError:
            pass
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def spoilt(self, data):
        bytes_, at = bytearray(data), self.random.randrange(len(data))
        if self.kind == "flip":
            bytes_[at] ^= 1 << self.random.randrange(8)
        elif self.kind == "cut":
            del bytes_[at : at + self.random.randrange(1, 50)]
        elif self.kind == "insert":
            bytes_[at:at] = self.random.randbytes(self.random.randrange(1, 50))
        elif self.kind == "flood":
            bytes_ += self.random.randbytes(1 << 20)
        elif self.kind == "huge":
            bytes_[:0] = b"\xff\xff\x55"
        elif self.kind == "silent":
            time.sleep(20)
        elif self.kind == "close":
            return None
        return bytes(bytes_)

    def close(self):
        self.is_over = True
        self.join()
        for listener in self.listeners:
            listener.close()


def robot_case(binary, seed, folder, behind, front):
    """A command with a hostile robot."""
    proxy = Proxy(front, behind, seed)
    proxy.start()
    try:
        line = [binary, "evaluate", "--env", "urr-reach", "--policy", "random", "--episodes", "2", "--robot", front]
        ran = Ran([*line, "--json", "--quiet"], folder=folder)
    finally:
        proxy.close()
    return f"robot {proxy.kind}", ran.defect({0} if proxy.kind == "well" else {0, 2}), ran


class Robot:
    """The simulated robot; `None` in the place of its address where it cannot be had."""

    def __init__(self, binary):
        number = 2 + os.getpid() % 100
        self.address, self.front = f"127.0.0.{number}", f"127.0.0.{number + 110}"
        line = [binary, "ur-sim", "--quiet", "--address", self.address, "--speed", "5"]
        self.process = subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        if not self.process.stdout.readline():
            self.address = None

    def close(self):
        self.process.terminate()
        self.process.wait()
