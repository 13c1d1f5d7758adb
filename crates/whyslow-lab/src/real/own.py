"""Programs as people write them: what they do to TCP is known from their arguments.

    own.py WHAT KEY=VALUE...
"""

import http.client
import random
import socket
import struct
import sys
import time

WHAT = sys.argv[1]
GIVEN = dict(word.split("=", 1) for word in sys.argv[2:])


def number(name, otherwise=0.0):
    return float(GIVEN.get(name, otherwise))


def accept(port):
    listener = socket.create_server(("", port), backlog=16)
    while True:
        yield listener.accept()[0]


def connect():
    return socket.create_connection((GIVEN["server"], int(number("port", 5001))), timeout=60)


def take(connection, size):
    """Reads so many bytes; fewer when the other end closes."""
    got = 0
    while got < size:
        piece = connection.recv(min(65536, size - got))
        if not piece:
            break
        got += len(piece)
    return got


def take_request(connection):
    """Reads a head, and the body that it announces."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(4096)
        if not piece:
            return False
        head += piece
    head, body = head.split(b"\r\n\r\n", 1)
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            take(connection, int(line.split(b":")[1]) - len(body))
    return True


def backend():
    """A web server that thinks, and then answers at once or in pieces."""
    size, chunk = int(number("size")), int(number("chunk", number("size")))
    for connection in accept(int(number("port", 8081))):
        if take_request(connection):
            time.sleep(number("think"))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            sent = 0
            while sent < size:
                piece = min(chunk, size - sent)
                connection.sendall(b"x" * piece)
                sent += piece
                if sent < size:
                    time.sleep(number("every"))
        connection.close()


def chunks():
    """Answers a request in pieces that it takes time to make."""
    for connection in accept(5001):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        take(connection, 20)
        for _ in range(int(number("count"))):
            connection.sendall(b"x" * int(number("chunk")))
            time.sleep(number("every"))
        connection.close()


def bulk():
    """Answers a request with all that it has."""
    for connection in accept(5001):
        if "sndbuf" in GIVEN:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(number("sndbuf")))
        take(connection, 20)
        connection.sendall(b"x" * int(number("size")))
        connection.close()


def cut():
    """Breaks off in the middle of an answer, with much of it unsent."""
    for connection in accept(5001):
        take(connection, 20)
        connection.setblocking(False)
        end = time.monotonic() + number("after")
        while time.monotonic() < end:
            try:
                connection.send(b"x" * 65536)
            except BlockingIOError:
                time.sleep(0.01)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


def pushes():
    """Tells its news whenever there are some."""
    rng = random.Random(int(number("seed")))
    for connection in accept(5001):
        take(connection, 20)
        connection.sendall(b"You will be told.\r\n")
        for _ in range(int(number("count"))):
            time.sleep(rng.uniform(number("least"), number("most")))
            connection.sendall(b"x" * rng.randint(60, 900))
        connection.close()


def polled():
    """Answers when there is something to tell."""
    rng = random.Random(int(number("seed")))
    for connection in accept(5001):
        while take(connection, 200) == 200:
            time.sleep(rng.uniform(number("least"), number("most")))
            connection.sendall(b"x" * 300)
        connection.close()


def answering():
    """Answers each request of 300 bytes."""
    for connection in accept(5001):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while take(connection, 300) == 300:
            connection.sendall(b"x" * 500)
        connection.close()


def sink():
    """Reads whatever comes."""
    for connection in accept(5001):
        while connection.recv(65536):
            pass
        connection.close()


def get():
    """Asks, and reads what comes: quickly, slowly, or with one long pause."""
    if "rcvbuf" in GIVEN:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(number("rcvbuf")))
        connection.connect((GIVEN["server"], 5001))
    else:
        connection = connect()
    connection.sendall(b"GET it, all of it.\r\n")
    got, stopped = 0, False
    try:
        while True:
            piece = connection.recv(int(number("read", 65536)))
            if not piece:
                break
            got += len(piece)
            if "every" in GIVEN:
                time.sleep(number("every"))
            if "stop_after" in GIVEN and not stopped and got >= number("stop_after"):
                stopped = True
                time.sleep(number("stop"))
    except ConnectionResetError:
        print("reset after", got)


def split():
    """Writes each request in two pieces and waits for the answer."""
    connection = connect()
    if "nodelay" in GIVEN:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(int(number("count"))):
        connection.sendall(b"h" * 100)
        connection.sendall(b"b" * 200)
        take(connection, 500)


def poll():
    connection = connect()
    for _ in range(int(number("count"))):
        connection.sendall(b"p" * 200)
        take(connection, 300)


def lines():
    """Writes log lines as they occur."""
    rng = random.Random(int(number("seed")))
    connection = connect()
    end = time.monotonic() + number("seconds")
    while time.monotonic() < end:
        connection.sendall(b"l" * rng.randint(60, 400))
        time.sleep(rng.uniform(number("least"), number("most")))


def pages():
    """A client that keeps its connection and pauses between its requests."""
    connection = http.client.HTTPConnection(GIVEN["server"], int(number("port", 80)), timeout=60)
    for nth in range(int(number("count"))):
        if nth:
            time.sleep(number("pause"))
        connection.request("GET", "/" + GIVEN["path"])
        connection.getresponse().read()


PROGRAMS = [backend, chunks, bulk, cut, pushes, polled, answering, sink, get, split, poll, lines, pages]
{program.__name__: program for program in PROGRAMS}[WHAT]()
