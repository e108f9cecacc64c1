import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { request as httpsRequest } from "node:https";
import { json } from "node:stream/consumers";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { AgentService } from "@reeve/contracts/agent";
import { AuditCredential_Kind, AuditService } from "@reeve/contracts/audit";
import { RunService } from "@reeve/contracts/run";
import { systemClock } from "@reeve/platform/async/clock";
import { openListener } from "@reeve/platform/rpc/listener";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { TlsFolder } from "@reeve/platform/test/support/tls-files";
import { openServerTls } from "@reeve/platform/tls/server-tls";
import type { CertifiedKey } from "@reeve/sandbox/test/support/certificates";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { gatewayConfig } from "../src/config.ts";
import { openGatewayBench, tokens, tokenWithRole } from "./support/gateway-bench.ts";

const log = createLogger("test", "silent");
const hourMs = 3_600_000;
const ci = "spiffe://acme.example/ci";
const list = `
${ci} acme/ann/runner+viewer
CN=builder acme/builder/viewer
CN=late acme/late/viewer until=2020-01-01T00:00:00Z
spiffe://acme.example/other acme/other/viewer
`;
let servers: Authority;
let clients: Authority;
let strangers: Authority;
let server: CertifiedKey;
let client: CertifiedKey;

beforeAll(async () => {
  [servers, clients, strangers] = await Promise.all([
    Authority.create(),
    Authority.create(),
    Authority.create(),
  ]);
  server = await servers.certify("127.0.0.1");
  client = await clients.certify("ci", hourMs, { uris: [ci] });
});

/** Starts a gateway that asks clients for certificates. */
async function openGateway(settings: Readonly<Record<string, string>> = {}) {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(new TlsFolder(server));
  const clientCaFile = folder.write("clients-ca.crt", clients.ca);
  const clientsFile = folder.write("clients", list);
  const tls = openServerTls(
    { ...folder.settings, REEVE_TLS_CLIENT_CA_FILE: clientCaFile },
    { clock: systemClock, log },
  );
  opening.use(tls);
  const listener = opening.use(await openListener({ host: "127.0.0.1", port: 0, tls }, log));
  const given = {
    REEVE_TLS_CLIENT_CA_FILE: clientCaFile,
    REEVE_TLS_CLIENTS_FILE: clientsFile,
    ...settings,
  };
  opening.use(await openGatewayBench(given, listener));
  const resources = opening.move();
  return {
    url: listener.url,
    folder,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Returns a function that lists runs with a certificate and a token, if there are any. */
function caller(url: string, certified?: CertifiedKey, token?: string) {
  const nodeOptions = { ca: servers.ca, ...certified };
  const transport = createGrpcTransport({ baseUrl: url, nodeOptions });
  const headers = new Headers();
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  const agents = createClient(AgentService, transport);
  const runs = createClient(RunService, transport);
  const trail = createClient(AuditService, transport);
  return {
    read: () => runs.listRuns({}, { headers }),
    start: () => runs.startRun({ agentId: "missing", input: "hello" }, { headers }),
    audit: () => trail.listAuditEvents({}, { headers }),
    author: () => agents.createAgent({ spec: { id: "a", name: "a" } }, { headers }),
  };
}

describe("a certificate is a credential", () => {
  test("by its URI, with the roles of its line", async () => {
    await using gateway = await openGateway();
    const { read, start, author } = caller(gateway.url, client);
    expect((await read()).runs).toEqual([]);
    await expect(start()).rejects.toThrow("[not_found]");
    await expect(author()).rejects.toThrow(
      "[permission_denied] ann of tenant acme may not call CreateAgent",
    );
  });

  test("by its common name", async () => {
    await using gateway = await openGateway();
    const { read, start } = caller(gateway.url, await clients.certify("builder"));
    expect((await read()).runs).toEqual([]);
    await expect(start()).rejects.toThrow("builder of tenant acme may not call StartRun");
  });

  test("over HTTP/1.1", async () => {
    await using gateway = await openGateway();
    const request = httpsRequest(`${gateway.url}/reeve.run.v1.RunService/ListRuns`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      ca: servers.ca,
      ...client,
    });
    const [response] = await once(request.end("{}"), "response");
    expect([response.statusCode, await json(response)]).toEqual([200, {}]);
  });
});

test("the audit trail names the certificate", async () => {
  await using gateway = await openGateway();
  await caller(gateway.url, client).read();
  const { audit } = caller(gateway.url, undefined, tokens.acme);
  const id = createHash("sha256").update(new X509Certificate(client.cert).raw).digest("hex");
  await vi.waitFor(
    async () => {
      const { events } = await audit();
      expect(events).toContainEqual(
        expect.objectContaining({
          action: "sign_in",
          subject: "ann",
          credential: expect.objectContaining({
            kind: AuditCredential_Kind.CERTIFICATE,
            id: id.slice(0, 12),
          }) as unknown,
        }),
      );
    },
    { timeout: 20_000, interval: 200 },
  );
});

describe("a certificate is no credential", () => {
  test.each([
    ["without a line", () => clients.certify("nobody")],
    ["whose line has ended", () => clients.certify("late")],
    ["whose name is only part of one", () => clients.certify("build")],
    [
      "whose URI has a name in its text",
      () => clients.certify("x", hourMs, { uris: ["https://a.example/,URI:spiffe://acme"] }),
    ],
  ])("%s: its client needs a token", async (_, certify) => {
    await using gateway = await openGateway();
    const certified = await certify();
    await expect(caller(gateway.url, certified).read()).rejects.toThrow(
      /\[unauthenticated\] no bearer token: .*; the certificate of the connection has the names .* and stands for nobody here/,
    );
    expect((await caller(gateway.url, certified, tokens.acme).read()).runs).toEqual([]);
  });

  test("if there is none: tokens work as before", async () => {
    await using gateway = await openGateway();
    expect((await caller(gateway.url, undefined, tokens.acme).read()).runs).toEqual([]);
    await expect(caller(gateway.url).read()).rejects.toThrow(/no bearer token: [^;]*$/);
  });
});

describe("a request is refused, even with a token,", () => {
  test.each([
    ["another authority", () => strangers.certify("builder"), "no authority in"],
    ["the authority of servers", () => servers.certify("builder"), "no authority in"],
    ["an expired certificate", () => clients.certify("builder", -hourMs), "expired at"],
  ])("for %s", async (_, certify, problem) => {
    await using gateway = await openGateway();
    const { read } = caller(gateway.url, await certify(), tokens.acme);
    await expect(read()).rejects.toThrow("[unauthenticated]");
    await expect(read()).rejects.toThrow(problem);
  });

  test("if the certificate has two names of the list", async () => {
    await using gateway = await openGateway();
    const both = await clients.certify("x", hourMs, { uris: [ci, "spiffe://acme.example/other"] });
    await expect(caller(gateway.url, both, tokens.acme).read()).rejects.toThrow(
      "has several names in REEVE_TLS_CLIENTS_FILE",
    );
  });

  test("if the certificate stands for another subject than the token", async () => {
    await using gateway = await openGateway();
    await expect(caller(gateway.url, client, tokens.acmeToo).read()).rejects.toThrow(
      "[unauthenticated] the certificate of the connection stands for ann of tenant acme, and the token for bob of tenant acme",
    );
    await expect(caller(gateway.url, client, "unknown-token").read()).rejects.toThrow(
      "unknown bearer token",
    );
  });
});

test("a certificate and a token of one subject permit only what both permit", async () => {
  await using gateway = await openGateway({
    REEVE_TOKENS: "token-of-ann=acme/ann/author+viewer",
  });
  const both = caller(gateway.url, client, "token-of-ann");
  expect((await both.read()).runs).toEqual([]);
  await expect(both.start()).rejects.toThrow("the credential has only viewer");
  await expect(both.author()).rejects.toThrow("the credential has only viewer");
});

describe("with REEVE_TLS_CLIENT_REQUIRED", () => {
  test("a token is not enough, and a certificate without a line is", async () => {
    await using gateway = await openGateway({ REEVE_TLS_CLIENT_REQUIRED: "true" });
    const token = tokenWithRole("viewer");
    await expect(caller(gateway.url, undefined, token).read()).rejects.toThrow(
      "[unauthenticated] the connection has no client certificate",
    );
    const nobody = await clients.certify("nobody");
    expect((await caller(gateway.url, nobody, token).read()).runs).toEqual([]);
  });

  test("probes and metrics need no certificate", async () => {
    await using gateway = await openGateway({ REEVE_TLS_CLIENT_REQUIRED: "true" });
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      const request = httpsRequest(`${gateway.url}${path}`, { ca: servers.ca }).end();
      const [response] = await once(request, "response");
      response.resume();
      expect({ path, status: response.statusCode }).toEqual({ path, status: 200 });
    }
  });
});

describe("an open connection loses its credential", () => {
  const soon = { timeout: 20_000, interval: 200 };

  test("when its line is removed", async () => {
    await using gateway = await openGateway();
    const { read } = caller(gateway.url, client);
    await read();
    gateway.folder.write("clients", "CN=builder acme/builder/viewer\n");
    await vi.waitFor(() => expect(read()).rejects.toThrow("stands for nobody here"), soon);
  });

  test("when its authority is removed, and gets it again with the authority", async () => {
    await using gateway = await openGateway();
    const { read } = caller(gateway.url, client);
    await read();
    gateway.folder.write("clients-ca.crt", strangers.ca);
    await vi.waitFor(() => expect(read()).rejects.toThrow("no authority in"), soon);
    gateway.folder.write("clients-ca.crt", Buffer.concat([strangers.ca, clients.ca]));
    await vi.waitFor(async () => expect((await read()).runs).toEqual([]), soon);
  });

  test("with an authority between as well, but not when another authority is added", async () => {
    await using gateway = await openGateway();
    const between = await clients.createBelow();
    const { cert, key } = await between.certify("builder");
    const { read } = caller(gateway.url, {
      cert: Buffer.from(`${String(cert)}\n${String(between.ca)}\n`),
      key,
    });
    expect((await read()).runs).toEqual([]);
    const probe = caller(gateway.url, await strangers.certify("builder"));
    await expect(probe.read()).rejects.toThrow("no authority in");
    gateway.folder.write("clients-ca.crt", Buffer.concat([clients.ca, strangers.ca]));
    const added = async () => {
      // A new connection each time: the certificate is verified in the handshake.
      const { read: again } = caller(gateway.url, await strangers.certify("builder"));
      expect((await again()).runs).toEqual([]);
    };
    await vi.waitFor(added, soon);
    expect((await read()).runs).toEqual([]);
    gateway.folder.write("clients-ca.crt", strangers.ca);
    await vi.waitFor(() => expect(read()).rejects.toThrow("no authority in"), soon);
  });

  test("when it expires", async () => {
    await using gateway = await openGateway();
    const { read } = caller(gateway.url, await clients.certify("builder", 4_000));
    await read();
    await vi.waitFor(() => expect(read()).rejects.toThrow("the client certificate expired"), soon);
  });
});

test("settings of client certificates that do not fit together are refused at the start", () => {
  for (const settings of [
    { REEVE_TLS_CLIENT_CA_FILE: "/ca.crt" },
    { REEVE_TLS_CLIENTS_FILE: "/clients" },
    { REEVE_TLS_CLIENT_REQUIRED: "true" },
  ]) {
    const [issue] = gatewayConfig.safeParse(settings).error?.issues ?? [];
    expect(issue?.path).toEqual(["REEVE_TLS_CLIENT_CA_FILE"]);
  }
  const fine = { REEVE_TLS_CLIENT_CA_FILE: "/ca.crt", REEVE_TLS_CLIENTS_FILE: "/clients" };
  expect(gatewayConfig.safeParse({ ...fine, REEVE_LISTEN: ":8080" }).success).toBe(true);
  expect(() =>
    openServerTls({ REEVE_TLS_CLIENT_CA_FILE: "/ca.crt" }, { clock: systemClock, log }),
  ).toThrow("REEVE_TLS_CLIENT_CA_FILE needs REEVE_TLS_CERT_FILE and REEVE_TLS_KEY_FILE");
});
