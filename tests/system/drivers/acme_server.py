"""A certificate authority that speaks ACME (RFC 8555) as far as certbot needs it: accounts, orders of one name, http-01, and
certificates. It does not verify signatures of requests: the client and the proxy before it are tested."""

import base64
import datetime
import hashlib
import http.client
import http.server
import json
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class AcmeServer(http.server.ThreadingHTTPServer):
    """`challenged` are the names that it has asked at port `http`; `serials` are those of its certificates."""

    def __init__(self, http_port):
        super().__init__(("127.0.0.1", 0), Handler)
        self.http = http_port
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.challenged, self.serials, self.thumbprint, self.orders = [], [], None, []
        self.key = ec.generate_private_key(ec.SECP256R1())
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def certificate(self, subject, public_key, serial, is_ca, names=()):
        now = datetime.datetime.utcnow()
        builder = x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name("authority")).public_key(public_key)
        builder = builder.serial_number(serial).not_valid_before(now - DAY).not_valid_after(now + 90 * DAY)
        builder = builder.add_extension(x509.BasicConstraints(is_ca, None), True)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(n) for n in names]), False)
        return builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, csr, names):
        """A certificate and that of the authority."""
        request = x509.load_der_x509_csr(csr)
        assert request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value.get_values_for_type(x509.DNSName) == names
        self.serials.append(1000 + len(self.serials))
        return self.certificate(names[0], request.public_key(), self.serials[-1], False, names) + \
            self.certificate("authority", self.key.public_key(), 1, True)

    def is_answered(self, order):
        """True if the name's port answers the challenge with the key of the account."""
        c = http.client.HTTPConnection("127.0.0.1", self.http, timeout=60)
        c.request("GET", f"/.well-known/acme-challenge/{order['token']}", headers={"Host": order["name"]})
        response = c.getresponse()
        found = response.status, response.read().decode().strip()
        c.close()
        self.challenged.append(order["name"])
        return found == (200, f"{order['token']}.{self.thumbprint}")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    nonces = 0

    def log_message(self, *args):
        pass

    def reply(self, status, body=b"", location=None, kind="application/json", up=None):
        data = body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else json.dumps(body).encode()
        Handler.nonces += 1
        self.send_response(status)
        self.send_header("Replay-Nonce", encode(b"%08d" % Handler.nonces))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if location:
            self.send_header("Location", location)
        if up:
            self.send_header("Link", f'<{up}>;rel="up"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_HEAD(self):
        self.reply(200)

    def do_GET(self):
        url = self.server.url
        self.reply(200, {"newNonce": f"{url}/nonce", "newAccount": f"{url}/account", "newOrder": f"{url}/new",
                         "revokeCert": f"{url}/revoke", "keyChange": f"{url}/key"})

    def show(self, number):
        order, url = self.server.orders[number], self.server.url
        is_valid = "certificate" in order
        return {"status": "valid" if is_valid else "ready" if order["authorized"] else "pending", "expires": "2999-01-01T00:00:00Z",
                "identifiers": [{"type": "dns", "value": order["name"]}], "authorizations": [f"{url}/authz/{number}"],
                "finalize": f"{url}/finalize/{number}", **({"certificate": f"{url}/certificate/{number}"} if is_valid else {})}

    def challenge(self, number):
        order = self.server.orders[number]
        return {"type": "http-01", "url": f"{self.server.url}/challenge/{number}", "token": order["token"],
                "status": "valid" if order["authorized"] else "pending"}

    def do_POST(self):
        server = self.server
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        protected = json.loads(decode(message["protected"]))
        payload = json.loads(decode(message["payload"]) or b"null")
        what, _, number = self.path[1:].partition("/")
        number = int(number or 0)
        if what == "account":
            if "jwk" in protected:
                members = {k: protected["jwk"][k] for k in ("crv", "e", "kty", "n", "x", "y") if k in protected["jwk"]}
                server.thumbprint = encode(hashlib.sha256(json.dumps(members, sort_keys=True, separators=(",", ":")).encode()).digest())
            self.reply(201, {"status": "valid"}, f"{server.url}/account/1")
        elif what == "new":
            token = encode(hashlib.sha256(b"%d" % len(server.orders)).digest())
            server.orders.append({"name": payload["identifiers"][0]["value"], "token": token, "authorized": False})
            number = len(server.orders) - 1
            self.reply(201, self.show(number), f"{server.url}/order/{number}")
        elif what == "order":
            self.reply(200, self.show(number), f"{server.url}/order/{number}")
        elif what == "authz":
            order = server.orders[number]
            self.reply(200, {"status": "valid" if order["authorized"] else "pending", "expires": "2999-01-01T00:00:00Z",
                             "identifier": {"type": "dns", "value": order["name"]}, "challenges": [self.challenge(number)]})
        elif what == "challenge":
            order = server.orders[number]
            order["authorized"] = order["authorized"] or server.is_answered(order)
            self.reply(200, self.challenge(number), up=f"{server.url}/authz/{number}")
        elif what == "finalize":
            order = server.orders[number]
            assert order["authorized"]
            order["certificate"] = server.issue(decode(payload["csr"]), [order["name"]])
            self.reply(200, self.show(number), f"{server.url}/order/{number}")
        elif what == "certificate":
            self.reply(200, server.orders[number]["certificate"], kind="application/pem-certificate-chain")
        else:
            self.reply(404, {"type": "urn:ietf:params:acme:error:malformed"})
