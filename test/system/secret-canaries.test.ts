import { once } from "node:events";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { toJsonString, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import type { CertifiedKey } from "@reeve/sandbox/test/support/certificates";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { HttpMcpServer } from "@reeve/toolhost/test/support/http-mcp-server";
import type { ServedCall } from "@reeve/toolhost/test/support/providers/provider-server";
import { ProviderServer, textSchema } from "@reeve/toolhost/test/support/providers/provider-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import type { SpanReceiver } from "./support/span-receiver.ts";
import { receiveSpans } from "./support/span-receiver.ts";
import { watchToEnd } from "./support/watching.ts";

const root = join(import.meta.dirname, "../..");
const statefulServer = join(root, "services/toolhost/test/support/stateful-server.ts");
/** The values of the secrets, which must be nowhere. */
const canaries = {
  web: 'canary-web/"7f3a+c1',
  program: "canary-program-8d20b4",
  billing: "canary-billing-e6519c",
  egress: "canary-egress-0b94d7",
} as const;

const resources = new AsyncDisposableStack();
let deployment: Deployment;
let receiver: SpanReceiver;
let web: HttpMcpServer;
let billing: ProviderServer;
let events: readonly RunEvent[];
/** What the host has received that code in a sandbox asks. */
const asked: (string | undefined)[] = [];

beforeAll(async () => {
  const secrets = await mkdtemp(join(tmpdir(), "reeve-secrets-test-"));
  resources.defer(() => rm(secrets, { recursive: true, force: true }));
  await mkdir(join(secrets, "acme"));
  for (const [name, value] of Object.entries(canaries)) {
    await writeFile(join(secrets, "acme", name), `${value}\n`);
  }
  receiver = resources.use(await receiveSpans());
  web = resources.use(await HttpMcpServer.start());
  web.tools = ["repeat"];
  const names = ["charge", "refuse"];
  const tools = names.map((name) => ({ name, inputSchema: textSchema }));
  billing = resources.use(await ProviderServer.start({ tools }, repeatMetadata));
  const authority = await Authority.create();
  await writeFile(join(secrets, "ca.pem"), authority.ca);
  const host = resources.use(await repeatingHost(await authority.certify("localhost")));
  const given = files(secrets, host.port);
  deployment = resources.use(await Deployment.start(settings(receiver.url), given));
  await deployment.agent("canaries", {
    mcpServers: ["web", "program", "unset"],
    permissionClasses: ["execute", "secrets"],
    deepAgent: {
      allowedImports: fromJson(ListValueSchema, ["os"]),
      network: { allow: [`localhost:${host.port}`], credentials: ["egress"] },
    },
  });
  const input = `http://localhost:${host.port}/marker-of-the-input`;
  const { run } = await deployment.reeve.runs.startRun({ agentId: "canaries", input });
  events = await watchToEnd(deployment, run?.runId ?? "");
}, 120_000);

afterAll(() => resources.disposeAsync());

function settings(collector: string) {
  return {
    REEVE_LOG_LEVEL: "debug",
    REEVE_TRACE_CONTENT: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector,
    OTEL_BSP_SCHEDULE_DELAY: "50",
    INITECH_KEY: "key-of-another-tenant",
    REEVE_NETWORK_ALLOW: "localhost:*",
    REEVE_NETWORK_RANGES: "127.0.0.0/8, ::1",
  };
}

function files(secrets: string, port: number): Readonly<Record<string, string>> {
  const catalog = { catalog_tenant: "acme" };
  const http = { url: web.url, allow_addresses: ["127.0.0.1"] };
  const program = { command: process.execPath, args: [statefulServer], sandbox: false };
  const servers = {
    web: { ...http, headers: { authorization: "Basic ${secret:web}" }, ...catalog },
    program: { ...program, env: { TOKEN: "${secret:program}" }, ...catalog },
    // Its tools are listed, and each call of this tenant needs a secret that it does not have.
    unset: { ...http, headers: { "x-key": "${secret:nothing}" }, catalog_tenant: "initech" },
  };
  const target = `127.0.0.1:${billing.port}`;
  const metadata = { authorization: "Bearer ${secret:billing}" };
  const egress = {
    hosts: [`localhost:${port}`],
    value: "Bearer ${secret:egress}",
    ca_file: join(secrets, "ca.pem"),
  };
  const sources = [
    { kind: "folder", path: secrets },
    { kind: "environment", tenants: { initech: { nothing: "INITECH_KEY" } } },
  ];
  return {
    REEVE_SECRETS_CONFIG: JSON.stringify({ sources, network_credentials: { egress } }),
    REEVE_MCP_CONFIG: JSON.stringify({ servers }),
    REEVE_PROVIDERS_CONFIG: JSON.stringify({
      providers: { billing: { target, metadata, ...catalog } },
    }),
  };
}

/** Starts a host that repeats the header that the proxy of a sandbox adds. */
async function repeatingHost({ cert, key }: CertifiedKey) {
  const server = createServer({ cert, key }, ({ headers: { authorization } }, response) => {
    asked.push(authorization);
    response.end(`repeated ${authorization}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
    return Promise.resolve();
  };
  return { port, [Symbol.asyncDispose]: close };
}

/** A provider that repeats its metadata in all that it sends. */
function repeatMetadata(call: ServedCall): void {
  const given = String(call.metadata["authorization"]);
  if (call.request.name === "refuse") return call.fail(status.PERMISSION_DENIED, `no ${given}`);
  call.say({ case: "progress", value: { progress: 1, message: `with ${given}` } });
  const content = Buffer.from(`dump of ${given}, ${Buffer.from(given).toString("base64")}`);
  const value = {
    content: `marker-of-the-result ${given}`,
    structured: { [given]: given },
    files: [{ mediaType: "text/plain", content }],
  };
  call.say({ case: "result", value });
  call.end();
}

/** Returns the texts of all results, in the order of their calls. */
function results(): readonly string[] {
  const texts = new Map<string, string>();
  for (const { event } of events) {
    if (event.case === "toolResult") {
      texts.set(event.value.result?.callId ?? "", event.value.result?.content ?? "");
    }
  }
  return events.flatMap(({ event }) =>
    event.case === "toolCall" ? [texts.get(event.value.callId) ?? ""] : [],
  );
}

/** Returns which canaries are in a text or in bytes, in any of the forms in which they may travel. */
function found(content: string | Uint8Array): readonly string[] {
  const text = typeof content === "string" ? content : Buffer.from(content).toString("latin1");
  return Object.values(canaries).filter((canary) => {
    const bytes = Buffer.from(canary);
    const encoded = [0, 1, 2].map((offset) =>
      Buffer.concat([Buffer.alloc(offset), bytes])
        .toString("base64")
        .slice(4, -4),
    );
    const forms = [canary, JSON.stringify(canary).slice(1, -1), encodeURIComponent(canary)];
    return [...forms, bytes.toString("hex"), ...encoded].some((form) => text.includes(form));
  });
}

/** Returns the files below a folder. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
}

describe("secrets that servers and providers repeat", () => {
  test("have reached those who need them", () => {
    const sent = web.headers.map(({ authorization }) => authorization);
    expect(sent).toContain(`Basic ${canaries.web}`);
    expect(billing.calls.map(({ metadata }) => metadata["authorization"])).toEqual([
      `Bearer ${canaries.billing}`,
      `Bearer ${canaries.billing}`,
    ]);
    const [first = "", second = ""] = results();
    expect(asked).toEqual([`Bearer ${canaries.egress}`]);
    expect(first).toContain('"authorization":"Basic [redacted]"');
    expect(second).toContain('{"token":"[redacted]"');
  });

  test("are not in what clients and models see", () => {
    expect(results()).toHaveLength(10);
    expect(results()[4]).toContain("refused: ");
    expect(results()[5]).toContain("marker-of-the-result Bearer [redacted]");
    expect(results()[6]).toContain("no Bearer [redacted]");
    for (const event of events) expect(found(toJsonString(RunEventSchema, event))).toEqual([]);
    const progress = events.filter(({ event }) => event.case === "mcpProgress");
    expect(progress.length).toBeGreaterThan(1);
  });

  test("that do not exist are tool errors that say how to add them", () => {
    expect(results()[7]).toMatch(
      /^the secret nothing of tenant acme does not exist; .* add the file .*\/acme\/nothing, or /,
    );
  });

  test("are not in a sandbox", () => {
    expect(results()[8]).toContain("PATH");
    expect(found(results()[8] ?? "")).toEqual([]);
    expect(results()[9]).toContain("repeated Bearer [redacted]");
    expect(results()[9]).toContain("HTTP_PROXY");
    expect(found(results()[9] ?? "")).toEqual([]);
  });

  test("are not in any file of the store: logs of runs, journals, artifacts, catalogs", async () => {
    const contents = await Promise.all(
      (await filesBelow(deployment.folder)).map(async (path) => await readFile(path)),
    );
    for (const marker of ["marker-of-the-result", "dump of Bearer [redacted]", "Has the token"]) {
      expect(contents.some((content) => content.includes(marker))).toBe(true);
    }
    for (const content of contents) expect(found(content)).toEqual([]);
  });

  test("are not in the logs of the services", () => {
    expect(deployment.logged.some((line) => line.includes("output of an MCP server"))).toBe(true);
    for (const line of deployment.logged) expect(found(line)).toEqual([]);
  });

  test("are not in spans, even with content", async () => {
    await receiver.until((spans) => spans.some(({ name }) => name.startsWith("invoke_agent")));
    const all = Buffer.concat(receiver.raw);
    expect(all.includes("marker-of-the-result")).toBe(true);
    expect(found(all)).toEqual([]);
  });
});
