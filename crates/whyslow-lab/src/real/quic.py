"""HTTP/3 programs over aioquic: their arguments are the cause of what the captures show.

    quic.py serve|get KEY=VALUE...

serve: think=SECONDS before each response, chunk=BYTES every=SECONDS between pieces of a body,
       stall=SECONDS after stall_after=BYTES of a body, retry=1.
get:   server=ADDRESS, size=BYTES of each response, upload=BYTES of each request, count=REQUESTS
       one after the other, parallel=REQUESTS at the same time, pause=SECONDS between requests,
       window=BYTES of the connection, stream_window=BYTES of a stream (both fixed),
       read=BYTES per second that the application takes at most, update_keys=1, migrate=1.
Both:  keys=FILE, qlog=FOLDER, congestion=reno|cubic, port=PORT, version=1|2, cipher=NAME.
"""

import asyncio
import datetime
import os
import socket
import ssl
import sys
import time

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic import connection as quic
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.logger import QuicFileLogger
from aioquic.quic.packet import QuicFrameType, QuicProtocolVersion
from aioquic.tls import CipherSuite

WHAT = sys.argv[1]
GIVEN = dict(word.split("=", 1) for word in sys.argv[2:])
BODY = bytes(65536)


def number(name, otherwise=0.0):
    return float(GIVEN.get(name, otherwise))


def certificate():
    """A self-signed certificate, with its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "quic.example")])
    now = datetime.datetime(2024, 1, 1)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=36500))
    return builder.sign(key, hashes.SHA256()), key


def configuration(is_client):
    config = QuicConfiguration(is_client=is_client, alpn_protocols=H3_ALPN)
    config.congestion_control_algorithm = GIVEN.get("congestion", "cubic")
    config.max_datagram_size = 1350
    config.max_data = int(number("window", 16 << 20))
    config.max_stream_data = int(number("stream_window", 16 << 20))
    config.idle_timeout = 60.0
    if GIVEN.get("version") == "2":
        config.original_version = QuicProtocolVersion.VERSION_2
        config.supported_versions = [QuicProtocolVersion.VERSION_2, QuicProtocolVersion.VERSION_1]
    if "cipher" in GIVEN:
        config.cipher_suites = [CipherSuite[GIVEN["cipher"]]]
    if "keys" in GIVEN:
        config.secrets_log_file = open(GIVEN["keys"], "a", buffering=1)
    if "qlog" in GIVEN:
        os.makedirs(GIVEN["qlog"], exist_ok=True)
        config.quic_logger = QuicFileLogger(GIVEN["qlog"])
    if is_client:
        config.server_name = "quic.example"
        config.verify_mode = ssl.CERT_NONE
    else:
        config.certificate, config.private_key = certificate()
    return config


class Reader:
    """How much the application has read of what arrived."""

    def __init__(self):
        self.rate = number("read", 0)
        self.start = time.monotonic()

    def taken(self, arrived):
        if self.rate <= 0:
            return arrived
        return min(arrived, int((time.monotonic() - self.start) * self.rate))


READER = Reader()
WINDOW, STREAM_WINDOW = int(number("window", 0)), int(number("stream_window", 0))


def fixed_windows(own):
    """aioquic doubles its windows as they fill; with these they stay as they are."""

    def connection_limits(self, builder, space):
        limit = self._local_max_data
        taken = READER.taken(limit.used)
        if taken + WINDOW - limit.value >= WINDOW // 2:
            limit.value = taken + WINDOW
        grown = limit.used * 2 > limit.value
        value, used = limit.value, limit.used
        limit.used = 0 if grown else used
        own(self, builder=builder, space=space)
        limit.used = used

    return connection_limits


def fixed_stream_windows(self, builder, space, stream):
    if not stream.max_stream_data_local or stream.receiver.is_finished:
        return
    taken = READER.taken(stream.receiver.highest_offset)
    if taken + STREAM_WINDOW - stream.max_stream_data_local_sent >= STREAM_WINDOW // 2:
        stream.max_stream_data_local = taken + STREAM_WINDOW
    if stream.max_stream_data_local_sent != stream.max_stream_data_local:
        buf = builder.start_frame(
            QuicFrameType.MAX_STREAM_DATA,
            capacity=quic.MAX_STREAM_DATA_FRAME_CAPACITY,
            handler=self._on_max_stream_data_delivery,
            handler_args=(stream,),
        )
        buf.push_uint_var(stream.stream_id)
        buf.push_uint_var(stream.max_stream_data_local)
        if self._quic_logger is not None:
            granted = self._quic_logger.encode_max_stream_data_frame(
                maximum=stream.max_stream_data_local, stream_id=stream.stream_id
            )
            builder.quic_logger_frames.append(granted)
        stream.max_stream_data_local_sent = stream.max_stream_data_local


if WINDOW:
    quic.QuicConnection._write_connection_limits = fixed_windows(quic.QuicConnection._write_connection_limits)
if STREAM_WINDOW:
    quic.QuicConnection._write_stream_limits = fixed_stream_windows


class Server(QuicConnectionProtocol):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.http = None
        self.tasks = set()

    def quic_event_received(self, event):
        if self.http is None and type(event).__name__ == "ProtocolNegotiated":
            self.http = H3Connection(self._quic)
        if self.http is None:
            return
        for one in self.http.handle_event(event):
            if isinstance(one, HeadersReceived):
                self.path = dict(one.headers)[b":path"].decode()
            if isinstance(one, (HeadersReceived, DataReceived)) and one.stream_ended:
                task = asyncio.ensure_future(self.respond(one.stream_id, self.path))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)

    async def respond(self, stream, path):
        if number("think"):
            await asyncio.sleep(number("think"))
        left = int(path.split("size=")[1].split("&")[0])
        head = [(b":status", b"200"), (b"server", b"aioquic"), (b"content-length", str(left).encode())]
        self.http.send_headers(stream, head)
        chunk, sent, stalled = int(number("chunk", 1 << 30)), 0, False
        while left:
            piece = min(left, chunk, len(BODY))
            if number("stall") and not stalled and sent >= number("stall_after", 1):
                stalled = True
                self.transmit()
                await asyncio.sleep(number("stall"))
            self.http.send_data(stream, BODY[:piece], end_stream=piece == left)
            left -= piece
            sent += piece
            if number("every"):
                self.transmit()
                await asyncio.sleep(number("every"))
        self.transmit()


class Client(QuicConnectionProtocol):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.http = H3Connection(self._quic)
        self.waiting = {}

    def quic_event_received(self, event):
        for one in self.http.handle_event(event):
            if isinstance(one, (HeadersReceived, DataReceived)) and one.stream_ended:
                self.waiting.pop(one.stream_id).set_result(None)

    async def request(self, size, upload):
        stream = self._quic.get_next_available_stream_id()
        self.waiting[stream] = asyncio.get_event_loop().create_future()
        method = b"POST" if upload else b"GET"
        head = [
            (b":method", method), (b":scheme", b"https"), (b":authority", b"quic.example"),
            (b":path", f"/file/{stream}?size={size}&token=secret".encode()), (b"user-agent", b"quic.py"),
        ]
        done = self.waiting[stream]
        self.http.send_headers(stream, head, end_stream=not upload)
        if upload:
            self.http.send_data(stream, bytes(upload), end_stream=True)
        self.transmit()
        await done


async def ticking(client):
    """Windows of a slow reader open with time and not only with packets."""
    while True:
        await asyncio.sleep(0.01)
        client.transmit()


async def get():
    size, upload = int(number("size", 1000)), int(number("upload"))
    async with connect(
        GIVEN["server"], int(number("port", 4433)), configuration=configuration(True), create_protocol=Client
    ) as client:
        READER.start = time.monotonic()
        ticks = asyncio.ensure_future(ticking(client)) if READER.rate else None
        for nth in range(int(number("count", 1))):
            if nth:
                await asyncio.sleep(number("pause"))
                if "update_keys" in GIVEN:
                    client.request_key_update()
                if "migrate" in GIVEN:
                    client._quic.change_connection_id()
            await asyncio.gather(*(client.request(size, upload) for _ in range(int(number("parallel", 1)))))
        if ticks:
            ticks.cancel()


async def listen():
    port = int(number("port", 4433))
    await serve("::", port, configuration=configuration(False), create_protocol=Server, retry="retry" in GIVEN)
    # The path waits for a listening TCP port.
    socket.create_server(("", port))
    await asyncio.Event().wait()


asyncio.run(get() if WHAT == "get" else listen())
