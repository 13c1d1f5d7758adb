"""Servers and clients of libraries that many programs use: gRPC, aiohttp, RabbitMQ's, memcached's.

    services.py WHAT KEY=VALUE...
"""

import asyncio
import random
import socket
import sys
import time

WHAT = sys.argv[1]
GIVEN = dict(word.split("=", 1) for word in sys.argv[2:])
MAX = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def number(name, otherwise=0.0):
    return float(GIVEN.get(name, otherwise))


def same(data):
    return data


def grpc_server():
    """Answers after a while, or with a stream of messages that take time to make."""
    from concurrent.futures import ThreadPoolExecutor

    import grpc

    def once(request, context):
        time.sleep(number("think"))
        return b"x" * int(number("size", 300))

    def stream(request, context):
        for _ in range(int(number("count"))):
            yield b"x" * int(number("size", 300))
            time.sleep(number("every"))

    methods = {
        "Once": grpc.unary_unary_rpc_method_handler(once, same, same),
        "Stream": grpc.unary_stream_rpc_method_handler(stream, same, same),
    }
    server = grpc.server(ThreadPoolExecutor(8), options=MAX)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("lab.Lab", methods),))
    server.add_insecure_port("0.0.0.0:50051")
    server.start()
    server.wait_for_termination()


def grpc_client():
    import grpc

    with grpc.insecure_channel(GIVEN["server"] + ":50051", options=MAX) as channel:
        once = channel.unary_unary("/lab.Lab/Once", same, same)
        stream = channel.unary_stream("/lab.Lab/Stream", same, same)
        for _ in range(int(number("calls"))):
            once(b"r" * 100)
        if "stream" in GIVEN:
            for _ in stream(b"r" * 100):
                pass


def web():
    """A page that takes time, its small parts, files, events, a chat, and a slow taker of uploads."""
    from aiohttp import web as http

    rng = random.Random(int(number("seed")))

    async def page(request):
        await asyncio.sleep(number("think"))
        return http.Response(body=b"p" * 20_000)

    async def part(request):
        return http.Response(body=b"x" * int(request.query.get("size", 4000)))

    async def events(request):
        response = http.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for nth in range(int(number("count"))):
            await asyncio.sleep(rng.uniform(number("least"), number("most")))
            await response.write(b"id: %d\ndata: %s\n\n" % (nth, b"e" * rng.randint(20, 300)))
        return response

    async def chat(request):
        messages = http.WebSocketResponse()
        await messages.prepare(request)
        async for message in messages:
            if rng.random() < 0.5:
                await messages.send_bytes(b"o" * rng.randint(20, 200))
        return messages

    async def upload(request):
        async for piece in request.content.iter_chunked(65536):
            await asyncio.sleep(number("every"))
        return http.Response(text="taken\n")

    async def stalls(request):
        size = int(number("size"))
        response = http.StreamResponse(headers={"Content-Length": str(2 * size)})
        await response.prepare(request)
        await response.write(b"x" * size)
        await asyncio.sleep(number("stall"))
        await response.write(b"x" * size)
        return response

    app = http.Application(client_max_size=1 << 40)
    for path, handler in [("page", page), ("part", part), ("events", events), ("chat", chat), ("stalls", stalls)]:
        app.router.add_get("/" + path, handler)
    app.router.add_put("/upload", upload)
    http.run_app(app, port=8080, print=None)


async def browse(session, base):
    """One page, then its parts over at most six connections, as browsers do."""

    async def get(path):
        async with session.get(base + path) as response:
            await response.read()

    await get("/page")
    await asyncio.gather(*(get("/part?nth=%d" % nth) for nth in range(int(number("parts")))))


async def talk(session, base):
    rng = random.Random(int(number("seed")))
    async with session.ws_connect(base + "/chat") as messages:
        for _ in range(int(number("count"))):
            await asyncio.sleep(rng.uniform(number("least"), number("most")))
            await messages.send_bytes(b"i" * rng.randint(20, 200))


async def play(session, base):
    """A player: a piece of the film, and some seconds until the next is wanted."""
    for nth in range(int(number("count"))):
        if nth:
            await asyncio.sleep(number("pause"))
        async with session.get(base + "/part?size=%d" % number("size")) as response:
            await response.read()


def with_session(act):
    import aiohttp

    async def run():
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=6)) as session:
            await act(session, "http://%s:8080" % GIVEN["server"])

    asyncio.run(run())


def browser():
    with_session(browse)


def chat():
    with_session(talk)


def player():
    with_session(play)


def rabbit():
    """Publishes messages, each confirmed before the next."""
    import pika

    parameters = pika.ConnectionParameters(GIVEN["server"], credentials=pika.PlainCredentials("guest", "guest"))
    connection = pika.BlockingConnection(parameters)
    channel = connection.channel()
    channel.confirm_delivery()
    channel.queue_declare("lab")
    for _ in range(int(number("count"))):
        channel.basic_publish("", "lab", b"m" * 400)
    connection.close()


def memcached():
    """One get after the other."""
    connection = socket.create_connection((GIVEN["server"], 11211), timeout=60)
    stream = connection.makefile("rwb")

    def ask(line):
        stream.write(line)
        stream.flush()
        while not stream.readline().startswith((b"END", b"STORED")):
            pass

    ask(b"set key 0 0 300\r\n" + b"v" * 300 + b"\r\n")
    for _ in range(int(number("count"))):
        ask(b"get key\r\n")


def nats():
    """Takes what another program publishes now and then."""
    rng = random.Random(int(number("seed")))
    sides = [socket.create_connection((GIVEN["server"], 4222), timeout=60) for _ in range(2)]
    streams = [side.makefile("rwb") for side in sides]
    for stream in streams:
        stream.readline()
        stream.write(b'CONNECT {"verbose":false,"pedantic":false}\r\n')
    taker, giver = streams
    taker.write(b"SUB news 1\r\n")
    taker.flush()
    for _ in range(int(number("count"))):
        time.sleep(rng.uniform(number("least"), number("most")))
        size = rng.randint(40, 400)
        giver.write(b"PUB news %d\r\n%s\r\n" % (size, b"n" * size))
        giver.flush()
        while not taker.readline().startswith(b"n"):
            pass


PROGRAMS = [grpc_server, grpc_client, web, browser, chat, player, rabbit, memcached, nats]
{program.__name__: program for program in PROGRAMS}[WHAT]()
