import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { skipReason } from "@reeve/sandbox/test/support/bubblewrap-here";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RunningToolhost } from "./support/running-toolhost.ts";
import { runningToolhost } from "./support/running-toolhost.ts";
import { resultOf } from "./support/toolhost.ts";

const never = new AbortController().signal;
/** The value of the secret, which must be nowhere but in the requests to the host. */
const canary = "canary-egress-51c07b";

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** What the host has received. */
const received: Received[] = [];

/** Answers with everything that it was sent, so that each answer contains the secret. */
function echo(request: IncomingMessage, response: ServerResponse): void {
  const { method = "", url = "", headers } = request;
  received.push({ method, url, headers });
  const given = String(headers.authorization);
  if (url === "/same") {
    const location = `https://${headers.host}/followed?with=${encodeURIComponent(given)}`;
    return void response.writeHead(302, { location }).end();
  }
  if (url === "/away") {
    const location = `http://localhost:${otherPort}/stolen`;
    return void response.writeHead(302, { location, "x-echo": given }).end();
  }
  if (url === "/zipped") {
    return void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(given));
  }
  if (url === "/pieces") {
    response.write(`a ${given.slice(0, 12)}`);
    return void setImmediate(() => response.end(`${given.slice(12)} b`));
  }
  const body = JSON.stringify({ method, url, headers });
  const length = { "content-length": Buffer.byteLength(body), "x-echo": given };
  response.writeHead(200, length).end(body);
}

let port = 0;
/** Of another host, for which there is no credential. */
let otherPort = 0;

describe.skipIf(skipReason !== "")(`a toolhost with credentials for hosts${skipReason}`, () => {
  const resources = new AsyncDisposableStack();
  let toolhost: RunningToolhost;
  let calls = 0;

  beforeAll(async () => {
    const authority = await Authority.create();
    const server = createServer(await authority.certify("localhost"), echo);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    resources.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    ({ port } = server.address() as AddressInfo);
    const other = createPlainServer(echo);
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    resources.defer(() => {
      other.closeAllConnections();
      other.close();
    });
    ({ port: otherPort } = other.address() as AddressInfo);
    const { path } = resources.use(await temporaryFolder());
    await mkdir(join(path, "secrets/acme"), { recursive: true });
    await writeFile(join(path, "secrets/acme/tracker"), `${canary}\n`);
    await mkdir(join(path, "secrets/hooli"), { recursive: true });
    await writeFile(join(path, "secrets/hooli/tracker"), "short\n");
    await writeFile(join(path, "ca.pem"), authority.ca);
    const host = {
      hosts: [`localhost:${port}`],
      value: "Bearer ${secret:tracker}",
      ca_file: join(path, "ca.pem"),
    };
    const config = {
      sources: [{ kind: "folder", path: join(path, "secrets") }],
      network_credentials: {
        tracker: { ...host, tenants: ["acme", "globex"] },
        // The certificate of the host is not of an authority that this process trusts.
        untrusted: { ...host, header: "x-key", ca_file: undefined },
        again: host,
      },
    };
    await writeFile(join(path, "secrets.json"), JSON.stringify(config));
    toolhost = resources.use(
      await runningToolhost(never, {
        REEVE_SANDBOX: "bubblewrap",
        REEVE_NETWORK_ALLOW: "localhost:*",
        REEVE_NETWORK_RANGES: "127.0.0.0/8, ::1",
        REEVE_SECRETS_CONFIG: join(path, "secrets.json"),
      }),
    );
  });

  afterAll(() => resources.disposeAsync());

  beforeEach(() => void received.splice(0));

  interface Asking {
    readonly credentials?: readonly string[];
    readonly tenant?: string;
    readonly network?: readonly string[];
    /** Further lines of Python, before the request `ask` is sent. */
    readonly code?: string;
    readonly runId?: string;
  }

  /** Sends a request from a sandbox, as programs do that only know their environment. Returns what the model reads. */
  async function asked(path: string, options: Asking = {}): Promise<string> {
    const { code = "", network = [`localhost:${port}`] } = options;
    const { credentials = ["tracker"], runId = "run_1" } = options;
    const program = `
import os, urllib.request, urllib.error
for name in ("no_proxy", "NO_PROXY"): os.environ.pop(name, None)
ask = urllib.request.Request("http://localhost:${port}${path}")
${code}
try:
    answer = urllib.request.urlopen(ask, timeout=20)
    print(answer.status, answer.headers.items(), answer.read().decode())
except urllib.error.HTTPError as error: print(error.code, error.headers.items(), error.read().decode())
except OSError as error: print("broken", error)
print(dict(os.environ), open("/proc/self/environ").read())`;
    const made = await toolhost.made({
      callId: `${runId}-${++calls}-0`,
      runId,
      name: "run_command",
      args: { command: ["python3", "-I", "-c", program] },
      network,
      credentials,
      ...(options.tenant !== undefined && { tenant: options.tenant }),
    });
    const { content, isError } = resultOf(made);
    expect(JSON.stringify(made, stringOf)).not.toContain(canary);
    return isError ? content : (JSON.parse(content) as { stdout: string }).stdout;
  }

  test("adds the header to requests for the host, over TLS, and the sandbox never sees it", async () => {
    const printed = await asked("/v1/items?limit=2");
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      method: "GET",
      url: "/v1/items?limit=2",
      headers: { authorization: `Bearer ${canary}`, host: `localhost:${port}` },
    });
    expect(printed).toContain('"authorization":"Bearer [redacted]"');
    expect(printed).toContain("'x-echo', 'Bearer [redacted]'");
    const line = toolhost.logged.find(({ msg }) => msg === "sandbox connection");
    expect(line).toMatchObject({ host: "localhost", port, credentials: ["tracker"] });
    expect(JSON.stringify(toolhost.logged)).not.toContain(canary);
  });

  test("replaces what the code sends in its place, and forwards no part of a document", async () => {
    const code = `
ask.add_header("Authorization", "Bearer forged")
ask.add_header("Range", "bytes=0-3")
ask.add_header("Accept-Encoding", "gzip")
ask.data = b"body"`;
    expect(await asked("/post", { code })).toContain("200");
    const [{ method, headers } = { method: "", headers: {} }] = received;
    expect(method).toBe("POST");
    expect(headers.authorization).toBe(`Bearer ${canary}`);
    expect(headers).toMatchObject({ "accept-encoding": "identity", "content-length": "4" });
    expect(headers.range).toBeUndefined();
  });

  test("recognizes a secret that a server repeats in pieces, and refuses a compressed answer", async () => {
    expect(await asked("/pieces")).toContain("a Bearer [redacted] b");
    const zipped = await asked("/zipped");
    expect(zipped).toMatch(/^502 .*the response is encoded in a way/s);
  });

  test("adds it again after a redirect to the same host, and never for another one", async () => {
    expect(await asked("/same")).toContain('"authorization":"Bearer [redacted]"');
    expect(received.map(({ url }) => url.split("?")[0])).toEqual(["/same", "/followed"]);
    received.splice(0);
    const network = [`localhost:${port}`, `localhost:${otherPort}`];
    expect(await asked("/away", { network })).toContain('"url":"/stolen"');
    expect(received.map(({ url, headers }) => [url, headers.authorization !== undefined])).toEqual([
      ["/away", true],
      ["/stolen", false],
    ]);
  });

  test("sends no request with TRACE, which repeats its headers", async () => {
    expect(await asked("/", { code: 'ask.method = "TRACE"' })).toMatch(/^400 .*TRACE repeats/s);
    expect(received).toEqual([]);
  });

  test("sends no plain request for the host from a call that names no credential", async () => {
    const printed = await asked("/", { credentials: [] });
    expect(printed).toMatch(
      /^403 .*need the credential tracker, untrusted, again, which this call/s,
    );
    expect(received).toEqual([]);
  });

  test("names no credential that the operator gives other tenants only", async () => {
    const printed = await asked("/", { credentials: [], tenant: "initech", runId: "run_4" });
    expect(printed).toMatch(/^403 .*need the credential untrusted, again, which this call/s);
    expect(printed).not.toContain("tracker");
    expect(received).toEqual([]);
  });

  test("sends no request with credentials that trust different authorities", async () => {
    const printed = await asked("/", { credentials: ["tracker", "untrusted"] });
    expect(printed).toMatch(/^403 .*verify localhost:\d+ by different authorities/s);
    expect(received).toEqual([]);
  });

  test("sends no secret that is too short to be recognized in an answer", async () => {
    const printed = await asked("/", { tenant: "hooli", credentials: ["again"], runId: "run_5" });
    expect(printed).toMatch(
      /^502 .*the secret tracker of tenant hooli has fewer than 8 characters/s,
    );
    expect(received).toEqual([]);
  });

  test("sends no request when two credentials set the same header", async () => {
    const printed = await asked("/", { credentials: ["tracker", "again"] });
    expect(printed).toMatch(
      /^403 .*several credentials of this agent set the header authorization/s,
    );
    expect(received).toEqual([]);
  });

  test("sends no secret to a host whose certificate it cannot verify", async () => {
    const printed = await asked("/", { credentials: ["untrusted"] });
    expect(printed).toMatch(/^502 .*no TLS connection to localhost: .*certificate/s);
    expect(received).toEqual([]);
  });

  test("sends nothing to a host that the agent may not reach", async () => {
    const printed = await asked("/", { network: ["localhost:1"] });
    expect(printed).toMatch(/^403 .*is not among the hosts that may be reached here/s);
    expect(received).toEqual([]);
  });

  test("uses the secret of the tenant of the run only, and says which one is missing", async () => {
    const printed = await asked("/", { tenant: "globex", runId: "run_2" });
    expect(printed).toMatch(/^502 .*the secret tracker of tenant globex does not exist/s);
    expect(received).toEqual([]);
  });

  test("refuses a call that names a credential which the operator gives other tenants, or nobody", async () => {
    const content = await asked("/", { tenant: "initech", runId: "run_3" });
    expect(content).toMatch(
      /^no network: the agent names the credential tracker, .* for tenant initech/,
    );
    expect(await asked("/", { credentials: ["other"] })).toContain("names the credential other");
    expect(received).toEqual([]);
  });
});

/** Protocol Buffers have integers that JSON cannot write. */
function stringOf(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
