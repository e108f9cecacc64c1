"""Receives webhooks as a program of a user does: verifies each, and prints it as a line of JSON.

Usage: webhook-receiver.py PORT SECRET [AHEAD]

AHEAD is how many seconds its clock is ahead of that of the machine.
"""

import base64
import hashlib
import hmac
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_AGE_SECONDS = 300
AHEAD_SECONDS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
# Each request has a thread, and print writes a line and its end separately.
printing = threading.Lock()


def is_genuine(secret: str, headers, body: bytes) -> bool:
    """Verifies a message as https://www.standardwebhooks.com specifies."""
    message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() + AHEAD_SECONDS - int(timestamp)) > MAX_AGE_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = headers["webhook-signature"].split(" ")
    return any(hmac.compare_digest(f"v1,{expected}", each) for each in signatures)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        genuine = is_genuine(sys.argv[2], self.headers, body)
        line = {"genuine": genuine, "id": self.headers["webhook-id"], "body": json.loads(body)}
        with printing:
            print(json.dumps(line), flush=True)
        self.send_response(204 if genuine else 401)
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
print("ready", flush=True)
server.serve_forever()
