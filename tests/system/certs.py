"""Certificates for tests, made when they are needed with openssl(1): none is kept anywhere."""

import datetime
import subprocess
from pathlib import Path


def openssl(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True, timeout=180)


NEW_KEY = {"ec": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "ec384": ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
           "rsa": ["rsa:2048"], "rsa3072": ["rsa:3072"], "ed25519": ["ed25519"]}


class Authority:
    """A CA in a directory: `pem` is its certificate. make() writes PEM files signed by it."""

    def __init__(self, directory, name="test CA"):
        self.dir = Path(directory)
        self.dir.mkdir(exist_ok=True)
        self.serial = 0
        self.pem = self.dir / "ca.pem"
        self.key = self.dir / "ca.priv"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 30,
                "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.pem)

    def make(self, file, cn, names=(), kind="ec", days=30, passphrase=None, subject=None, responder=None):
        """PEM with certificate and key for this CN; its path. subject: /O=.../CN=..., instead of the CN alone; responder:
        the URL of one for OCSP."""
        self.serial += 1
        out = self.dir / file
        key, csr, crt, ext = (self.dir / f".{self.serial}.{e}" for e in ("key", "csr", "crt", "ext"))
        openssl("req", "-new", "-newkey", *NEW_KEY[kind], "-nodes", "-subj", subject or f"/CN={cn}", "-keyout", key,
                "-out", csr)
        ext.write_text(("subjectAltName=" + ",".join(f"DNS:{n}" for n in names) + "\n" if names else "") +
                       (f"authorityInfoAccess=OCSP;URI:{responder}\n" if responder else ""))
        openssl("x509", "-req", "-in", csr, "-CA", self.pem, "-CAkey", self.key, "-set_serial", 1000 + self.serial,
                "-days", days, "-extfile", ext, "-out", crt)
        if passphrase:
            openssl("pkey", "-in", key, "-aes128", "-passout", f"pass:{passphrase}", "-out", f"{key}.enc")
            key = Path(f"{key}.enc")
        out.write_text(crt.read_text() + key.read_text())
        return out

    def index(self, pem, status):
        """The file with what is known of this certificate, as openssl-ca(1) writes it; V: good, R: revoked."""
        self.serial += 1
        index = self.dir / f".{self.serial}.index"
        serial = subprocess.run(["openssl", "x509", "-in", pem, "-noout", "-serial"], check=True, capture_output=True,
                                text=True, timeout=60).stdout.strip().partition("=")[2]
        index.write_text(f"{status}\t400101000000Z\t{'260101000000Z' if status == 'R' else ''}\t{serial}\tunknown\t/CN=x\n"
                         if status else "")
        return index

    def openssl_ocsp(self, pem, status, minutes, *asked, out, key=None):
        """Runs openssl-ocsp(1) as a responder that signs with its own key, or with that of another authority."""
        signer = key or self
        openssl("ocsp", "-index", self.index(pem, status), "-rsigner", signer.pem, "-rkey", signer.key, "-CA", self.pem,
                *asked, "-nmin", minutes, "-respout", out)

    def ocsp(self, pem, status="V", minutes=60):
        """A response in DER about a certificate of this CA, valid for so many minutes from now on."""
        self.serial += 1
        out = self.dir / f".{self.serial}.ocsp"
        self.openssl_ocsp(pem, status, minutes, "-issuer", self.pem, "-cert", pem, out=out)
        return out.read_bytes()

    def crl(self, *revoked, days=30):
        """PEM with a list of revoked certificates; its path."""
        self.serial += 1
        base = self.dir / f".{self.serial}"
        (index, number, conf, out) = (Path(f"{base}.{e}") for e in ("index", "number", "conf", "crl"))
        index.write_text("")
        number.write_text("01\n")
        conf.write_text(f"[ca]\ndefault_ca=d\n[d]\ndatabase={index}\ncrlnumber={number}\ndefault_md=sha256\n")
        as_ca = ["ca", "-config", conf, "-keyfile", self.key, "-cert", self.pem]
        for pem in revoked:
            openssl(*as_ca, "-revoke", pem)
        now = datetime.datetime.now(datetime.timezone.utc)
        since, until = (f"{now + datetime.timedelta(days=d):%Y%m%d%H%M%SZ}" for d in (min(0, days) - 1, days))
        openssl(*as_ca, "-gencrl", "-crl_lastupdate", since, "-crl_nextupdate", until, "-out", out)
        return out
