""" A name server for tests, over UDP and TCP on one port of loopback: it sends the answers that a test has set, and
can be silent, late, wrong or hostile."""
import socket
import socketserver
import struct
import threading

from facts import Seen, close

A, CNAME, AAAA, SRV = 1, 5, 28, 33
NOERROR, SERVFAIL, NXDOMAIN, REFUSED = 0, 2, 3, 5


def name_of(text):
    return b''.join(bytes([len(label)]) + label.encode() for label in text.rstrip('.').split('.')) + b'\0'


def read_question(query):
    """(name, type, the bytes of the question)"""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    return '.'.join(labels).lower(), struct.unpack('!H', query[at + 1:at + 3])[0], query[12:at + 5]


def record(owner, kind, data, ttl=0):
    return owner + struct.pack('!HHIH', kind, 1, ttl, len(data)) + data


class Nameserver:
    """ `zone` maps a name to its records: 'a' and 'aaaa' are lists of addresses, 'srv' of (weight, port, target) or
    (weight, port, target, address), 'cname' is a name. `rcode` and `silent` apply to every answer."""

    def __init__(self, address='127.0.0.1'):
        self.zone = {}
        self.rcode = NOERROR
        self.silent = False
        self.truncate = False        # over UDP
        self.wrong_id = False        # a forged answer before the right one
        self.ttl = 0
        self.queries = Seen()        # (name, type, 'udp' or 'tcp')
        self.lock = threading.Lock()
        while True:
            self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.udp.bind((address, 0))
            self.port = self.udp.getsockname()[1]
            try:
                self.tcp = socketserver.ThreadingTCPServer((address, self.port), self._handler())
                break
            except OSError:
                self.udp.close()
        self.tcp.daemon_threads = True
        self.stopped = False
        self.thread = threading.Thread(target=self._serve_udp, daemon=True)
        self.thread.start()
        threading.Thread(target=self.tcp.serve_forever, kwargs={'poll_interval': 0.05}, daemon=True).start()

    def close(self):
        self.stopped = True
        self.tcp.shutdown()
        self.tcp.server_close()
        close(self.udp, self.thread)

    def asked(self, name, kind=None):
        return self._times(list(self.queries), name, kind)

    @staticmethod
    def _times(queries, name, kind=None):
        return sum(1 for n, k, _ in queries if n == name and kind in (None, k))

    def fall_silent(self, name):
        """Answers nothing more: returns how often the name had been queried before."""
        with self.lock:
            self.silent = True
            return self.asked(name)

    def heard(self, name, times=1, more=False):
        """ Waits until the name was queried so many times, or so many times more."""
        times += self.asked(name) if more else 0
        self.queries.until(lambda queries: self._times(queries, name) >= times, f'{times} questions for {name}')

    # --- answers ---

    def answer(self, query, over):
        name, kind, question = read_question(query)
        with self.lock:
            self.queries.append((name, kind, over))
            is_silent = self.silent
        if is_silent:
            return None
        known = self.zone.get(name)
        rcode = self.rcode or (NXDOMAIN if known is None else NOERROR)
        answers, extra = ([], []) if rcode else self._records(known, kind)
        flags = 0x8180 | rcode
        if self.truncate and over == 'udp':
            flags, answers, extra = flags | 0x0200, [], []
        return query[:2] + struct.pack('!HHHHH', flags, 1, len(answers), 0, len(extra)) + question + \
            b''.join(answers + extra)

    def _records(self, known, kind):
        owner, answers, extra = b'\xc0\x0c', [], []
        while 'cname' in known:
            answers.append(record(owner, CNAME, name_of(known['cname']), self.ttl))
            owner, known = name_of(known['cname']), self.zone.get(known['cname'], {})
        if kind == A:
            answers += [record(owner, A, socket.inet_aton(ip), self.ttl) for ip in known.get('a', ())]
        elif kind == AAAA:
            answers += [record(owner, AAAA, socket.inet_pton(socket.AF_INET6, ip), self.ttl)
                        for ip in known.get('aaaa', ())]
        elif kind == SRV:
            for weight, port, target, *address in known.get('srv', ()):
                answers.append(record(owner, SRV, struct.pack('!HHH', 0, weight, port) + name_of(target), self.ttl))
                extra += [record(name_of(target), A, socket.inet_aton(ip), self.ttl) for ip in address]
        return answers, extra

    # --- sockets ---

    def _serve_udp(self):
        while not self.stopped:
            try:
                query, peer = self.udp.recvfrom(4096)
                if not query:
                    return
                reply = self.answer(query, 'udp')
                if reply and self.wrong_id:
                    self.udp.sendto(bytes([reply[0] ^ 0xff]) + reply[1:], peer)
                if reply:
                    self.udp.sendto(reply, peer)
            except OSError:
                if self.stopped:
                    return

    def _handler(self):
        server = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                stream = self.request.makefile('rb')
                while True:
                    head = stream.read(2)
                    if len(head) < 2:
                        return
                    reply = server.answer(stream.read(struct.unpack('!H', head)[0]), 'tcp')
                    if reply:
                        self.request.sendall(struct.pack('!H', len(reply)) + reply)
        return Handler
