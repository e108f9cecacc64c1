import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:https";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { connect } from "node:tls";
import { TlsFolder } from "@reeve/platform/test/support/tls-files";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Deployment } from "./support/deployment.ts";
import { approve, eventOf, watchToEnd } from "./support/watching.ts";

const ready = join(import.meta.dirname, "../../deploy/images/ready.mjs");
let authority: Authority;
let folder: TlsFolder;
let deployment: Deployment;

beforeAll(async () => {
  authority = await Authority.create();
  folder = new TlsFolder(await authority.certify("127.0.0.1"));
  deployment = await Deployment.start(
    { ...folder.settings, REEVE_APPROVALS_CA_FILE: folder.write("ca.crt", authority.ca) },
    {},
    authority.ca,
  );
  await deployment.agent("publish", {
    permissionClasses: ["execute"],
    hitlTools: ["publish_report"],
  });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Requests a path of a service over HTTPS. */
async function read(url: string) {
  const [response] = await once(get(url, { ca: authority.ca }), "response");
  return { status: response.statusCode as number, body: await text(response) };
}

async function serialAt(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const socket: TLSSocket = connect({ host, port: Number(port), ca: authority.ca });
  await once(socket, "secureConnect");
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** Runs the health check of a container, and returns its exit code. */
async function healthOf(url: string): Promise<number | null> {
  const { REEVE_TLS_CERT_FILE } = folder.settings;
  const child = spawn(process.execPath, [ready, new URL(url).port], {
    env: { ...process.env, REEVE_TLS_CERT_FILE },
  });
  await once(child, "exit");
  return child.exitCode;
}

test("a run is started, watched, approved, and ends over TLS, while the certificate is replaced", async () => {
  const { run } = await deployment.reeve.runs.startRun({ agentId: "publish", input: "report" });
  const runId = run?.runId ?? "";
  await eventOf(deployment, runId, "runParked");
  const watched = watchToEnd(deployment, runId);
  const approvals = await deployment.probesOf("approvals");
  const before = await Promise.all([deployment.url, approvals].map(serialAt));
  folder.swap(await authority.certify("127.0.0.1"));
  await vi.waitFor(
    async () => {
      const [gateway, other] = await Promise.all([deployment.url, approvals].map(serialAt));
      expect([gateway, other]).not.toContain(before[0]);
    },
    { timeout: 30_000 },
  );
  await approve(deployment, runId);
  await watched;
  expect((await deployment.reeve.runs.getRun({ runId })).run?.runId).toBe(runId);
});

describe("the probes of a service", () => {
  test("and its metrics use the TLS of its port", async () => {
    for (const service of ["gateway", "approvals"] as const) {
      const url = await deployment.probesOf(service);
      expect(url).toMatch(/^https:/);
      expect(await read(`${url}/livez`)).toEqual({ status: 200, body: "ok\n" });
      expect(await read(`${url}/readyz`)).toEqual({ status: 200, body: "ready\n" });
      const { body } = await read(`${url}/metrics`);
      const [, seconds] = /^reeve_tls_certificate_expiry_seconds (\S+)$/m.exec(body) ?? [];
      expect(Number(seconds)).toBeGreaterThan(0);
    }
  });

  test("satisfy the health check of a container, with and without TLS", async () => {
    const codes: (number | null)[] = [];
    for (const service of ["gateway", "approvals", "runtime"] as const) {
      codes.push(await healthOf(await deployment.probesOf(service)));
    }
    expect(codes).toEqual([0, 0, 0]);
    expect(await healthOf("http://127.0.0.1:1")).toBe(1);
  });
});

test("a service does not start with a certificate that it cannot use", async () => {
  const settings = { REEVE_TLS_KEY_FILE: "/nowhere/tls.key" };
  await expect(deployment.start("gateway-2", settings)).rejects.toThrow(
    /ended with 2: .*REEVE_TLS_KEY_FILE \/nowhere\/tls\.key: there is no such file/,
  );
});
