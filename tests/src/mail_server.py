"""A real mail server on loopback: prints its port and certificate, then every mail, each as a line of JSON.

Arguments: how it is made safe (NONE, STARTTLS, TLS), a port or 0, and, if it wants a log-in, user and password.
Whoever begins with `refused` is refused for good, whoever begins with `busy` for now.
"""

import asyncio
import json
import ssl
import sys

import trustme
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

security, port = sys.argv[1], int(sys.argv[2])
login = tuple(text.encode() for text in sys.argv[3:5]) or None


def say(**words):
    print(json.dumps(words), flush=True)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused"):
            return "550 5.1.1 nobody of that name"
        if address.startswith("busy"):
            return "451 4.3.0 come back later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        text = envelope.content.decode("utf-8", "replace")
        say(sender=envelope.mail_from, to=envelope.rcpt_tos, text=text, tls=server.transport.get_extra_info("ssl_object") is not None,
            login=(session.auth_data or LoginPassword(b"", b"")).login.decode())
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    fine = isinstance(data, LoginPassword) and (data.login, data.password) == login
    return AuthResult(success=fine, handled=fine, auth_data=data if fine else None)


async def main():
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)

    def made():
        return SMTP(
            Handler(), hostname="mail.test", enable_SMTPUTF8=True,
            tls_context=context if security == "STARTTLS" else None, require_starttls=security == "STARTTLS",
            authenticator=authenticate if login else None, auth_required=bool(login),
            auth_require_tls=security == "STARTTLS",
        )

    loop = asyncio.get_running_loop()
    listening = await loop.create_server(made, "127.0.0.1", port, ssl=context if security == "TLS" else None)
    say(port=listening.sockets[0].getsockname()[1], ca=authority.cert_pem.bytes().decode())
    await listening.serve_forever()


asyncio.run(main())
