import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CertifiedKey } from "@reeve/sandbox/test/support/certificates";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { freePort } from "../../../test/support/free-ports.ts";
import { connectNats } from "../src/nats/connect-nats.ts";
import { connectionStateOf } from "../src/nats/connection-state.ts";
import { explainTls } from "../src/nats/explain-tls.ts";
import type { NatsServer } from "../src/nats/nats-server.ts";
import { startNatsServer } from "../src/nats/nats-server.ts";
import type { NatsTls } from "../src/nats/nats-tls.ts";
import { createLogger } from "../src/telemetry/logger.ts";

const never = new AbortController().signal;
const silent = createLogger("test", "silent");
const folder = mkdtempSync(join(tmpdir(), "reeve-nats-tls-"));
const hourMs = 3_600_000;
let authority: Authority;
let other: Authority;
let caFile: string;

beforeAll(async () => {
  [authority, other] = await Promise.all([Authority.create(), Authority.create()]);
  caFile = write("ca.pem", authority.ca);
  write("other-ca.pem", other.ca);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function writePair(name: string, { cert, key }: CertifiedKey) {
  return { certFile: write(`${name}.pem`, cert), keyFile: write(`${name}.key`, key) };
}

/** Starts a server with a certificate. `verify`: it asks clients for one of the authority. */
async function secureServer(
  certified: CertifiedKey,
  { verify = false, port }: { readonly verify?: boolean; readonly port?: number } = {},
): Promise<NatsServer> {
  const { certFile, keyFile } = writePair("server", certified);
  const files = `cert_file: "${certFile}", key_file: "${keyFile}", ca_file: "${caFile}"`;
  const configFile = write("nats.conf", `tls { ${files}, verify: ${verify} }\n`);
  const options = { storeDir: join(folder, "store"), configFile, log: silent };
  return await startNatsServer({ ...options, ...(port !== undefined && { port }) }, never);
}

/** What a client with these files says about the server. */
async function explained(server: NatsServer, tls: NatsTls, host = "localhost") {
  return await explainTls({ host, port: server.port }, tls, never);
}

test("a client connects with TLS, and with the certificate that a server asks for", async () => {
  await using server = await secureServer(await authority.certify("localhost"), { verify: true });
  const tls = { caFile, ...writePair("client", await authority.certify("runtime")) };
  const options = { name: "test", log: silent, tls };
  await using nats = await connectNats(`tls://localhost:${server.port}`, options, never);
  await expect(nats.connection.flush()).resolves.toBeUndefined();
  expect(nats.connection.info?.tls_required).toBe(true);
  expect(await explained(server, tls)).toBeUndefined();
});

describe("a certificate of the server is refused, with the reason and the file,", () => {
  test("if another authority signed it", async () => {
    await using server = await secureServer(await authority.certify("localhost"));
    const otherCa = join(folder, "other-ca.pem");
    expect(await explained(server, { caFile: otherCa })).toMatch(
      `localhost:${server.port} has a certificate that no authority in REEVE_NATS_CA_FILE ${otherCa} signed`,
    );
    expect(await explained(server, {})).toContain("set REEVE_NATS_CA_FILE");
  });

  test("if it has expired", async () => {
    await using server = await secureServer(await authority.certify("localhost", -hourMs));
    expect(await explained(server, { caFile })).toContain("has expired");
  });

  test("if it is of another host", async () => {
    await using server = await secureServer(await authority.certify("nats.example"));
    expect(await explained(server, { caFile })).toMatch(/of another host: .*nats\.example/);
  });
});

describe("a server that refuses the client is explained, with the setting and the file,", () => {
  test("if the client has no certificate, one of another authority, or an expired one", async () => {
    await using server = await secureServer(await authority.certify("localhost"), { verify: true });
    expect(await explained(server, { caFile })).toContain(
      "asks for a certificate; set REEVE_NATS_CERT_FILE and REEVE_NATS_KEY_FILE",
    );
    const stranger = writePair("stranger", await other.certify("runtime"));
    expect(await explained(server, { caFile, ...stranger })).toContain(
      `refuses the certificate in REEVE_NATS_CERT_FILE ${stranger.certFile}, which no authority`,
    );
    const expired = writePair("expired", await authority.certify("runtime", -hourMs));
    expect(await explained(server, { caFile, ...expired })).toContain(
      `refuses the certificate in REEVE_NATS_CERT_FILE ${expired.certFile}, which expired at`,
    );
  });

  test("if it has no TLS", async () => {
    const options = { storeDir: join(folder, "plain"), log: silent };
    await using server = await startNatsServer(options, never);
    expect(await explained(server, { caFile })).toContain("does not offer TLS");
  });
});

/** Returns a logger, and a promise of the first line that matches. */
function awaitLine(pattern: RegExp) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      if (pattern.test(chunk.toString())) resolve(chunk.toString());
      done();
    },
  });
  return { log: createLogger("test", "warn", destination), line: promise };
}

test.each(["nats://127.0.0.1:1", "nats://localhost:1,[::1]:1"])(
  "an address instead of a name is refused, because a certificate would be checked for localhost: %s",
  async (url) => {
    const options = {
      name: "test",
      log: silent,
      tls: { caFile: write("ca-of-all.pem", authority.ca) },
    };
    await expect(connectNats(url, options, never)).rejects.toThrow(
      "TLS checks the name of a server",
    );
  },
);

test("every authority of a file is trusted, also without a line break between them", async () => {
  await using server = await secureServer(await authority.certify("localhost"));
  const joined = write("joined.pem", String(other.ca).trimEnd() + String(authority.ca).trimEnd());
  const options = { name: "test", log: silent, tls: { caFile: joined } };
  await using nats = await connectNats(`tls://localhost:${server.port}`, options, never);
  await expect(nats.connection.flush()).resolves.toBeUndefined();
  expect(await explained(server, { caFile: joined })).toBeUndefined();
});

test("the cause is logged while a client cannot connect", async () => {
  const options = { storeDir: join(folder, "plain"), log: silent };
  await using server = await startNatsServer(options, never);
  const { log, line } = awaitLine(/does not offer TLS/);
  const end = new AbortController();
  const url = `tls://localhost:${server.port}`;
  const connecting = connectNats(url, { name: "test", log, user: "a", pass: "b" }, end.signal);
  await line;
  end.abort();
  await expect(connecting).rejects.toThrow("aborted");
});

test("a file that is replaced is used at the next attempt to connect", async () => {
  const port = await freePort();
  const before = await secureServer(await authority.certify("localhost"), { port });
  const trusted = write("trusted.pem", authority.ca);
  const { log, line } = awaitLine(/no authority in REEVE_NATS_CA_FILE/);
  const options = { name: "test", log, tls: { caFile: trusted } };
  await using nats = await connectNats(`tls://localhost:${port}`, options, never);
  await before[Symbol.asyncDispose]();
  await using _ = await secureServer(await other.certify("localhost"), { port });
  expect(await line).toContain(`NATS server localhost:${port} has a certificate that`);
  const { promise: open, resolve } = Promise.withResolvers<void>();
  connectionStateOf(nats.connection).onChange((isUp) => isUp && resolve());
  write("trusted.pem", other.ca);
  await open;
  await expect(nats.connection.flush()).resolves.toBeUndefined();
});

/** Connects to no server, because the files come first. */
async function connect(tls: NatsTls): Promise<unknown> {
  return await connectNats("tls://localhost:1", { name: "test", log: silent, tls }, never);
}

describe("files that cannot be used are refused before the first connection:", () => {
  test("a missing one", async () => {
    await expect(connect({ caFile: "/nowhere/ca.pem" })).rejects.toThrow(
      /^REEVE_NATS_CA_FILE \/nowhere\/ca\.pem: ENOENT/,
    );
  });

  test("one that is not PEM", async () => {
    const path = write("noise.pem", "noise");
    await expect(connect({ caFile: path })).rejects.toThrow(`REEVE_NATS_CA_FILE ${path}: `);
  });

  test("a certificate without its key, or with another", async () => {
    const { certFile } = writePair("one", await authority.certify("one"));
    const { keyFile } = writePair("two", await authority.certify("two"));
    await expect(connect({ certFile })).rejects.toThrow("set both REEVE_NATS_CERT_FILE and");
    await expect(connect({ certFile, keyFile })).rejects.toThrow(
      `REEVE_NATS_KEY_FILE ${keyFile} is not the key of`,
    );
  });
});
