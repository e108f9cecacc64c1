import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect as connectTcp, createServer } from "node:net";
import { connect as connectTls } from "node:tls";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { systemClock } from "../src/async/clock.ts";
import { openListener } from "../src/rpc/listener.ts";
import { isSignedBy } from "../src/tls/is-signed-by.ts";
import { peerCertificateOf } from "../src/tls/peer-certificate.ts";
import { openServerTls } from "../src/tls/server-tls.ts";
import { TlsFolder } from "./support/tls-files.ts";

const log = pino({ level: "silent" });

function copies(pem: Buffer): readonly X509Certificate[] {
  return Array.from({ length: 100 }, () => new X509Certificate(pem));
}

test("a certificate that a client sends many times is examined once", async () => {
  const [authority, stranger] = await Promise.all([Authority.create(), Authority.create()]);
  const between = await authority.createBelow();
  const { cert } = await between.certify("ci");
  const leaf = new X509Certificate(cert);
  const chain = [...copies(between.ca), ...copies(authority.ca)];
  expect(isSignedBy(leaf, chain, [new X509Certificate(stranger.ca)])).toBe(false);
  expect(isSignedBy(leaf, chain, [new X509Certificate(authority.ca)])).toBe(true);
});

test("an authority that is removed during a handshake does not vouch for its certificate", async () => {
  const [servers, clients, others] = await Promise.all([
    Authority.create(),
    Authority.create(),
    Authority.create(),
  ]);
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(new TlsFolder(await servers.certify("127.0.0.1")));
  const authorities = folder.write("clients-ca.crt", clients.ca);
  const settings = { ...folder.settings, REEVE_TLS_CLIENT_CA_FILE: authorities };
  const tls = openServerTls(settings, { clock: systemClock, log });
  opened.use(tls);
  const listener = opened.use(await openListener({ host: "127.0.0.1", port: 0, tls }, log));
  listener.setHandler(({ socket }, response) => {
    const { problem, isTrusted } = peerCertificateOf(socket) ?? {};
    response.end(JSON.stringify({ problem, isTrusted: isTrusted?.() }));
  });

  // Delivers what the client sends after its first message only when it is told to.
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const relay = createServer((client) => {
    const server = connectTcp(listener.port, "127.0.0.1");
    server.pipe(client).on("error", () => server.destroy());
    client.once("data", (hello) => {
      server.write(hello);
      begun.resolve();
      client.pause();
      void goOn.promise.then(() => client.pipe(server).on("error", () => client.destroy()));
    });
  }).listen(0, "127.0.0.1");
  opened.defer(() => void relay.close());
  await once(relay, "listening");
  const { port } = relay.address() as AddressInfo;
  const certified = await clients.certify("ci");
  const socket = connectTls({ host: "127.0.0.1", port, ca: servers.ca, ...certified });
  opened.defer(() => void socket.destroy());
  const secured = once(socket, "secureConnect");
  await begun.promise;
  const before = tls?.clientAuthorities;
  folder.write("clients-ca.crt", others.ca);
  await vi.waitFor(() => expect(tls?.clientAuthorities).not.toBe(before), { timeout: 8_000 });
  goOn.resolve();
  await secured;
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const [answer] = await once(socket, "data");
  // The handshake verified it by the authority that is removed now.
  expect(String(answer)).toMatch(/\{"isTrusted":false\}/);
});
