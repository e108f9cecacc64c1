import { randomBytes } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import type { NetworkBench } from "./network-bench.ts";
import { maxBytes } from "./network-bench.ts";

/** Tests the limits of a call's network, and its behavior towards broken clients and servers. */
export function networkBoundsContract(network: () => NetworkBench): void {
  const python: NetworkBench["python"] = (...args) => network().python(...args);

  describe("has a network that", () => {
    test.each(["/huge", "/endless"])("transfers no more than its limit from %s", async (path) => {
      const code = `
import urllib.request
read = 0
try:
    answer = urllib.request.urlopen("http://good.test:PORT${path}", timeout=20)
    while chunk := answer.read(65536): read += len(chunk)
except Exception: pass
print(0 < read < ${maxBytes + 2 ** 20})
print(ask("http://good.test:PORT/"))`;
      const [isBounded, next] = (await python(code, ["good.test:PORT"], path)).split("\n");
      expect(isBounded).toBe("True");
      expect(next).toBe(`403 this call has exceeded its limit of ${maxBytes} bytes`);
      expect(network().logged.find(({ callId }) => callId === path)).toMatchObject({
        reason: "too many bytes",
      });
    });

    test("limits open connections, and serves others once those are closed", async () => {
      const code = `
import socket
def begin():
    one = socket.create_connection(("127.0.0.1", 3128))
    one.sendall(b"CONNECT good.test:PORT HTTP/1.1\\r\\n\\r\\n"); return one
held = [begin() for _ in range(40)]
answers = [each.recv(12).decode() for each in held]
print(answers.count("HTTP/1.1 200"), answers.count("HTTP/1.1 403"))
for each in held: each.close()
import time
for attempt in range(100):
    answer = ask("http://good.test:PORT/")
    if answer.startswith("200"): break
    time.sleep(0.05)
print(answer[:3])`;
      expect(await python(code, ["good.test:PORT"])).toBe("32 8\n200");
    });

    test("ends with the call, together with its connections", async () => {
      const code = `
import os, socket, time
one = socket.create_connection(("127.0.0.1", 3128))
one.sendall(b"CONNECT good.test:PORT HTTP/1.1\\r\\n\\r\\n"); print(one.recv(12).decode())
if os.fork() == 0: time.sleep(300)`;
      const callId = `call-${randomBytes(4).toString("hex")}`;
      expect(await python(code, ["good.test:PORT"], callId)).toBe("HTTP/1.1 200");
      await vi.waitFor(() => {
        expect(network().logged.filter((line) => line.callId === callId)).toHaveLength(1);
      }, 5_000);
    });

    test.each(["/odd-status", "/no-http", "/odd-header", "/cut", "/upgrade", "/nothing"])(
      "survives the invalid answer of %s, and serves the next request",
      async (path) => {
        const code = `
import http.client
try: print(ask("http://good.test:PORT${path}")[:3])
except http.client.HTTPException: print("broken")
print(ask("http://good.test:PORT/")[:3])`;
        expect(await python(code, ["good.test:PORT"])).toMatch(/^(200|502|bro|broken)\n200$/);
      },
    );

    test("survives clients that send invalid or oversized HTTP", async () => {
      const code = `
import socket
def send(what):
    one = socket.create_connection(("127.0.0.1", 3128), 20)
    try:
        one.sendall(what); one.shutdown(socket.SHUT_WR)
        while one.recv(65536): pass
    except OSError: pass
for what in (b"", b"\\0" * 1000, b"GET / HTTP/1.1\\r\\n\\r\\n", b"CONNECT  HTTP/1.1\\r\\n\\r\\n",
             b"CONNECT good.test:PORT HTTP/1.1\\r\\n" + b"x: y\\r\\n" * 100000, b"GET http://[ HTTP/1.1\\r\\n\\r\\n",
             b"POST http://good.test:PORT/ HTTP/1.1\\r\\ncontent-length: 5\\r\\n\\r\\nab",
             b"CONNECT good.test:99999 HTTP/1.1\\r\\n\\r\\n", b"OPTIONS * HTTP/1.1\\r\\n\\r\\n"): send(what)
print(ask("http://good.test:PORT/")[:3])`;
      expect(await python(code, ["good.test:PORT"])).toBe("200");
    });

    test("delivers a large answer completely to a slow reader", async () => {
      const code = `
import socket, time
one = socket.create_connection(("127.0.0.1", 3128))
one.sendall(b"CONNECT good.test:PORT HTTP/1.1\\r\\n\\r\\n")
assert one.recv(4096).endswith(b"\\r\\n\\r\\n")
one.sendall(b"GET /large HTTP/1.0\\r\\n\\r\\n")
time.sleep(0.3)
read = b""
while chunk := one.recv(65536): read += chunk
print(len(read.partition(b"\\r\\n\\r\\n")[2]))`;
      expect(await python(code, ["good.test:PORT"])).toBe("2000000");
    });
  });
}
