"""gRPC through HTTP/2 on both sides, by the library that its users have: calls of each kind, their ends, a server
that is started again, a daemon that stops or is reloaded, also under load. In `make check` it is skipped where it is not
installed."""

import concurrent.futures
import queue
import signal
import threading

import pytest
from conftest import WAIT, admin, free_port
from facts import Seen, only_child
from subject import only_tacit
from test_master import MASTER, reload

grpc = pytest.importorskip("grpc")   # `make all-servers` installs it

pytestmark = only_tacit

CFG = """defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 retries 20
frontend f
 bind 127.0.0.1:{port} proto h2
 default_backend b
backend b
 server s 127.0.0.1:{server} proto h2
"""
BIG = 64 << 20
OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Service(grpc.GenericRpcHandler):
    """Methods of /t/: messages are bytes."""

    def __init__(self):
        self.cancelled, self.waiting, self.go = threading.Event(), threading.Event(), threading.Event()

    def service(self, call):
        name = call.method.rpartition("/")[2]
        kind = {"echo": grpc.unary_unary_rpc_method_handler, "fails": grpc.unary_unary_rpc_method_handler,
                "waits": grpc.unary_unary_rpc_method_handler, "held": grpc.unary_unary_rpc_method_handler,
                "count": grpc.unary_stream_rpc_method_handler, "sum": grpc.stream_unary_rpc_method_handler,
                "talk": grpc.stream_stream_rpc_method_handler}.get(name)
        return kind(getattr(self, name)) if kind else None

    @staticmethod
    def echo(message, context):
        context.set_trailing_metadata((("x-end", "1"),))
        return message

    @staticmethod
    def fails(message, context):
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, message.decode())

    def waits(self, message, context):
        """Until the client is gone."""
        context.add_callback(self.cancelled.set)
        self.waiting.set()
        self.cancelled.wait(WAIT)
        return message

    def held(self, message, _context):
        self.waiting.set()
        assert self.go.wait(WAIT)
        return message

    @staticmethod
    def count(message, _context):
        for i in range(int(message)):
            yield b"%d" % i

    @staticmethod
    def sum(messages, _context):
        return b"%d" % sum(map(int, messages))

    @staticmethod
    def talk(messages, _context):
        for m in messages:
            yield m[::-1]


def serve(service, port):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(64), handlers=[service], options=OPTIONS)
    assert server.add_insecure_port(f"127.0.0.1:{port}") == port
    server.start()
    return server


class Calls:
    """The methods of a service, on a connection of their own."""

    def __init__(self, port):
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}",
                                             options=[*OPTIONS, ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)])
        for kind, names in (("unary_unary", ("echo", "fails", "waits", "held", "missing")), ("unary_stream", ("count",)),
                            ("stream_unary", ("sum",)), ("stream_stream", ("talk",))):
            for name in names:
                setattr(self, name, getattr(self.channel, kind)(f"/t/{name}"))


@pytest.fixture
def rpc(daemon):
    """The daemon, the calls of a client through it, the service, and what starts the server again."""
    service, server, port = Service(), free_port(), free_port()
    running = [serve(service, server)]
    p = daemon(CFG.format(port=port, server=server), mode=MASTER)
    calls = Calls(port)
    calls.port = port

    def restart(grace=None):
        running[0].stop(grace).wait(WAIT)
        running[0] = serve(service, server)

    yield p, calls, service, restart
    calls.channel.close()
    running[0].stop(None)


def test_unary(rpc):
    """The trailers come with the answer, also of a failure, which has nothing else, and of a method that there is not."""
    _, calls, _, _ = rpc
    got, call = calls.echo.with_call(b"hello", timeout=WAIT)
    assert got == b"hello" and dict(call.trailing_metadata())["x-end"] == "1"
    for method, code in ((calls.fails, grpc.StatusCode.FAILED_PRECONDITION), (calls.missing, grpc.StatusCode.UNIMPLEMENTED)):
        with pytest.raises(grpc.RpcError) as why:
            method(b"not now", timeout=WAIT)
        assert why.value.code() == code


def test_streams(rpc):
    """Messages of either side, and of both: each answer comes before the next question is asked."""
    _, calls, _, _ = rpc
    assert list(calls.count(b"1000", timeout=WAIT)) == [b"%d" % i for i in range(1000)]
    assert calls.sum((b"%d" % i for i in range(1000)), timeout=WAIT) == b"499500"
    asked = []

    def ask():
        for i in range(100):
            asked.append(i)
            yield b"%03d" % i

    for i, got in enumerate(calls.talk(ask(), timeout=WAIT)):
        assert got == (b"%03d" % i)[::-1]
    assert len(asked) == 100


def test_big_messages(rpc):
    _, calls, _, _ = rpc
    message = bytes(range(256)) * (BIG // 256)
    assert calls.echo(message, timeout=4 * WAIT) == message


@pytest.mark.parametrize("how", ["cancel", "deadline"])
def test_given_up(rpc, how):
    """The server learns that the client does not wait any more; other calls of both are not disturbed."""
    _, calls, service, _ = rpc
    call = calls.waits.future(b"x", timeout=WAIT if how == "cancel" else 0.5)
    if how == "cancel":
        assert service.waiting.wait(WAIT)
        call.cancel()
    assert call.code() == (grpc.StatusCode.CANCELLED if how == "cancel" else grpc.StatusCode.DEADLINE_EXCEEDED)
    # A deadline may have passed before the server had the call.
    assert not service.waiting.is_set() or service.cancelled.wait(WAIT)
    assert calls.echo(b"next", timeout=WAIT) == b"next"


def test_server_restarts(rpc):
    """Calls after a restart of the server are answered by the new one."""
    _, calls, _, restart = rpc
    for i in range(5):
        assert calls.echo(b"%d" % i, timeout=WAIT) == b"%d" % i
        restart()
        assert calls.echo(b"after", timeout=WAIT, wait_for_ready=True) == b"after"


def test_soft_stop(rpc):
    """A daemon that stops answers the calls that run."""
    p, calls, service, _ = rpc
    held = calls.held.future(b"kept", timeout=WAIT)
    assert service.waiting.wait(WAIT)
    p.send(signal.SIGUSR1)
    service.go.set()
    assert held.result(WAIT) == b"kept"


class Load:
    """Clients that call all the time, each on its own connection. What fails is in `failed`, for no client tries again."""

    def __init__(self, port):
        self.done, self.failed, self.over = Seen(), [], threading.Event()
        self.port = port
        self.clients = [threading.Thread(target=self.run, args=(i,)) for i in range(12)]
        for c in self.clients:
            c.start()

    def run(self, i):
        calls = Calls(self.port)
        kind = (self.one, self.exchange, self.listen)[i % 3]
        while not self.over.is_set():
            try:
                kind(calls)
                self.done.append(i)
            except (grpc.RpcError, AssertionError) as why:
                self.failed.append(why)
        calls.channel.close()

    @staticmethod
    def one(calls):
        assert calls.echo(b"x" * 5000, timeout=6 * WAIT) == b"x" * 5000

    @staticmethod
    def exchange(calls):
        said = [b"%d" % i for i in range(50)]
        assert list(calls.talk(iter(said), timeout=6 * WAIT)) == [x[::-1] for x in said]

    @staticmethod
    def listen(calls):
        assert len(list(calls.count(b"200", timeout=6 * WAIT))) == 200

    def more(self):
        """Each client has ended a call that began after this."""
        wanted = [self.done.count(i) + 2 for i in range(len(self.clients))]
        self.done.until(lambda done: all(done.count(i) >= n for i, n in enumerate(wanted)), "two more calls of each")

    def end(self, allowed=None, details=None):
        """No call has failed, but with the status that a server, or with these details the library, may give."""
        self.over.set()
        for c in self.clients:
            c.join()
        failed = [f for f in self.failed
                  if not (isinstance(f, grpc.RpcError) and f.code() == allowed and details in (None, f.details()))]
        assert not failed, (len(failed), len(self.done), failed[0])


def test_reload_under_load(rpc):
    """No call is lost, and a stream that has begun before continues in the previous process. A call that the library has not sent
    when it gets the GOAWAY fails: it would be tried again by a client that tries again."""
    p, calls, _, _ = rpc
    load, said = Load(calls.port), queue.Queue()
    talk = calls.talk(iter(said.get, None), timeout=6 * WAIT)
    try:
        for i in range(5):
            load.more()
            said.put(b"%d" % i)
            assert next(talk) == b"%d" % i
            assert reload(p, settle=False)
    finally:
        said.put(None)
        load.end(grpc.StatusCode.UNAVAILABLE, "GOAWAY received")
    assert not list(talk)
    only_child(p.pid)
    head, *rows = admin(p.sock, "show stat f 1 -1").strip().split("\n")
    stat = dict(zip(head.split(","), rows[0].split(",")))
    assert int(stat["h2_headers_rcvd"]) == int(stat["req_tot"]) == len(load.done) + 1


def test_server_restarts_under_load(rpc):
    """A server that ends its calls, and comes again: those that it leaves out begin again there. As it stops it cancels some
    that it has begun, with this library's clients next to it, too."""
    _, calls, _, restart = rpc
    load = Load(calls.port)
    try:
        for _ in range(3):
            load.more()
            restart(WAIT)
        load.more()
    finally:
        load.end(grpc.StatusCode.CANCELLED)
