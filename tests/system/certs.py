"""Certificates for tests, made when they are needed with openssl(1): none is kept anywhere."""

import subprocess
from pathlib import Path


def openssl(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True, timeout=60)


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

    def make(self, file, cn, names=(), kind="ec", days=30, passphrase=None):
        """PEM with certificate and key for this CN; its path."""
        self.serial += 1
        out = self.dir / file
        key, csr, crt, ext = (self.dir / f".{self.serial}.{e}" for e in ("key", "csr", "crt", "ext"))
        new = {"rsa": ["-newkey", "rsa:2048"], "ed25519": ["-newkey", "ed25519"],
               "ec384": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
               "ec": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]}[kind]
        openssl("req", "-new", *new, "-nodes", "-subj", f"/CN={cn}", "-keyout", key, "-out", csr)
        ext.write_text("subjectAltName=" + ",".join(f"DNS:{n}" for n in names) if names else "")
        openssl("x509", "-req", "-in", csr, "-CA", self.pem, "-CAkey", self.key, "-set_serial", 1000 + self.serial,
                "-days", days, "-extfile", ext, "-out", crt)
        if passphrase:
            openssl("pkey", "-in", key, "-aes128", "-passout", f"pass:{passphrase}", "-out", f"{key}.enc")
            key = Path(f"{key}.enc")
        out.write_text(crt.read_text() + key.read_text())
        return out
