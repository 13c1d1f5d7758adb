"""One end of a connection, as a state needs it: `role.py listen|connect PORT[@HOST] WHAT [NAME=VALUE ...]`.

WHAT: none (never accept), hold (read nothing), read, flood (write for ever), slow (read 100 ms worth of RATE at a
time), close (the FIRST ones, after AFTER seconds), answer (BYTES to each line), ask (COUNT lines, PAUSE seconds apart, each
answered by BYTES).
Options: backlog, bytes, first, rate, count, pause, after, many, rcvbuf, sndbuf, cc, for. The file NAME of `done=NAME` is made
when the work is done. It stays until it is ended.
"""
import os, socket, sys, threading, time

kind, where, what = sys.argv[1:4]
options = dict(word.split("=", 1) for word in sys.argv[4:])
port, _, host = where.partition("@")
number = lambda name, default: type(default)(float(options.get(name, default)))
held = []


def prepare(one):
    for name, option in (("rcvbuf", socket.SO_RCVBUF), ("sndbuf", socket.SO_SNDBUF)):
        if name in options:
            one.setsockopt(socket.SOL_SOCKET, option, int(options[name]))
    if "cc" in options:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, options["cc"].encode())
    return one


def read_exactly(one, count):
    while count > 0:
        data = one.recv(min(count, 1 << 17))
        if not data:
            return False
        count -= len(data)
    return True


def run(one):
    end = time.time() + number("for", 1e9)
    if what == "read":
        space = bytearray(1 << 17)
        while one.recv_into(space):
            pass
        one.close()
    elif what == "slow":
        part = int(number("rate", 1e6) / 10)
        while read_exactly(one, part):
            time.sleep(0.1)
    elif what == "flood":
        data = b"x" * (1 << 16)
        while time.time() < end:
            one.sendall(data)
    elif what == "close":
        if [id(each) for each in held].index(id(one)) >= number("first", 1 << 30):
            return
        time.sleep(number("after", 1.0))
        one.close()
    elif what == "answer":
        data = b"x" * number("bytes", 1000)
        for _ in one.makefile("rb"):
            one.sendall(data)
        one.close()
    elif what == "ask":
        for turn in range(number("count", 1)):
            if turn:
                time.sleep(number("pause", 0.0))
            one.sendall(b"ask\n")
            read_exactly(one, number("bytes", 1000))
        if "close" in options:
            one.close()


def safely(one):
    try:
        run(one)
    except OSError:
        pass


def finish():
    if "done" in options:
        open(options["done"], "w").close()
    threading.Event().wait()


if kind == "listen":
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = prepare(socket.socket(family))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host or "0.0.0.0", int(port)))
    listener.listen(number("backlog", 64))
    if what == "none":
        finish()
    while True:
        one, _ = listener.accept()
        held.append(one)
        threading.Thread(target=safely, args=(one,), daemon=True).start()
else:
    for _ in range(number("many", 1)):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        one = prepare(socket.socket(family))
        held.append(one)
        if what == "open":
            one.setblocking(False)
            one.connect_ex((host, int(port)))
            continue
        for attempt in range(200):
            try:
                one.connect((host, int(port)))
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
                one = held[-1] = prepare(socket.socket(family))
        if number("many", 1) == 1:
            safely(one)
        elif what in ("close", "ask"):
            safely(one)
        else:
            threading.Thread(target=safely, args=(one,), daemon=True).start()
    finish()
