"""Certificates of servers on the loopback, and the authorities that sign them."""

import subprocess

NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def make_authority(folder, name="ca"):
    """A certificate authority in the folder: (certificate, key)."""
    pem, key = folder / f"{name}.pem", folder / f"{name}.key"
    openssl("req", "-x509", *NEW_KEY, "-keyout", key, "-out", pem, "-days", "30", "-subj", f"/CN={name} of a test",
            "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    return pem, key


def make_certificate(authority, folder, name, alternatives="DNS:localhost,IP:127.0.0.1", usage="extendedKeyUsage=serverAuth"):
    """A server's certificate that the authority signs: (certificate, key). usage: the extensions for it."""
    pem, key, request, more = (folder / f"{name}.{end}" for end in ("pem", "key", "csr", "ext"))
    more.write_text(f"subjectAltName={alternatives}\n{usage}\n")
    openssl("req", "-new", *NEW_KEY, "-keyout", key, "-out", request, "-subj", f"/CN={name}")
    openssl("x509", "-req", "-in", request, "-CA", authority[0], "-CAkey", authority[1], "-CAcreateserial", "-days",
            "30", "-out", pem, "-extfile", more)
    return pem, key


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=30)
