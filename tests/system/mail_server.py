"""A scripted mail server: it gives each command its reply, and keeps what clients have said."""

import contextlib
import re
import socket
import threading

from conftest import WAIT

GREETING = "greeting"
GOOD = {GREETING: "220 mail.example ESMTP", "HELO": "250-mail.example\r\n250 at your service", "MAIL": "250 ok", "RCPT": "250 ok",
        "DATA": "354 go", ".": "250 queued", "QUIT": "221 bye"}
DATE = re.compile(r"^Date: [A-Z][a-z]{2}, [0-3][0-9] [A-Z][a-z]{2} 20[0-9]{2} [0-9:]{8} [+-][0-9]{4} \([A-Z]+\)")


class MailServer:
    """replies: by command, instead of good ones; one that is None closes the connection, "" is silence."""

    def __init__(self, port, replies=None, host="127.0.0.1"):
        self.replies = {**GOOD, **(replies or {})}
        self.talks = []    # of each connection the lines of the client
        self.mails = []
        self.ends = []     # one for each connection of which QUIT, or its end, has come
        self.changed = threading.Condition()
        self.sock = socket.create_server((host, port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                conn, _ = self.sock.accept()
                threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn):
        talk = []
        with self.changed:
            self.talks.append(talk)
            self.changed.notify_all()
        with conn, conn.makefile("rb") as lines, contextlib.suppress(OSError):
            if self._reply(conn, GREETING):
                self._talk(conn, lines, talk)
        with self.changed:
            self.ends.append(talk)
            self.changed.notify_all()

    def _reply(self, conn, word):
        reply = self.replies.get(word, "500 what")
        if reply:
            conn.sendall(reply.encode() + b"\r\n")
        return reply is not None

    def _talk(self, conn, lines, talk):
        mail = None
        for line in lines:
            talk.append(DATE.sub("Date: now", line.decode("latin-1")))
            if mail is None:
                word = line.decode("latin-1").split(" ")[0].strip().upper()
                if word == "DATA" and (self.replies[word] or "").startswith("354"):
                    mail = []
            elif line != b".\r\n":
                mail.append(talk[-1])
                continue
            else:
                word = "."
                with self.changed:
                    self.mails.append("".join(mail))
                    self.changed.notify_all()
                mail = None
            if not self._reply(conn, word):
                return
            if word == "QUIT":
                break

    def until(self, n, what="mails"):
        """The mails, talks or ends of connections, once there are n of them."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(getattr(self, what)) >= n, WAIT), (what, n, self.talks)
        return list(getattr(self, what))

    def close(self):
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()
