import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ApprovalService } from "@reeve/contracts/approval";
import { systemClock } from "@reeve/platform/async/clock";
import type { RunningServer } from "@reeve/platform/rpc/server";
import { serve } from "@reeve/platform/rpc/server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { TlsFolder } from "@reeve/platform/test/support/tls-files";
import { openServerTls } from "@reeve/platform/tls/server-tls";
import type { CertifiedKey } from "@reeve/sandbox/test/support/certificates";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { gatewayConfig } from "../src/config.ts";
import { openGatewayBench, tokens } from "./support/gateway-bench.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
let authority: Authority;
let other: Authority;

beforeAll(async () => {
  [authority, other] = await Promise.all([Authority.create(), Authority.create()]);
});

interface Approvals extends RunningServer {
  readonly folder: TlsFolder;
}

/** Serves an inbox without approvals, with a certificate unless it is undefined. */
async function serveApprovals(certified?: CertifiedKey, port = 0): Promise<Approvals> {
  const resources = new AsyncDisposableStack();
  const folder = resources.use(new TlsFolder(certified ?? {}));
  const tls =
    certified && resources.use(openServerTls(folder.settings, { clock: systemClock, log }));
  const server = resources.use(
    await serve(
      (router) => router.service(ApprovalService, { listApprovals: () => ({}) }),
      { host: "127.0.0.1", port, log, services: [ApprovalService], tls },
      never,
    ),
  );
  const { url } = server;
  return {
    url,
    port: server.port,
    folder,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Starts a gateway with these settings, and lists approvals through it. */
async function openGateway(settings: Readonly<Record<string, string>>) {
  const bench = await openGatewayBench(settings);
  const headers = { authorization: `Bearer ${tokens.acme}` };
  const client = createClient(ApprovalService, createGrpcTransport({ baseUrl: bench.url }));
  return Object.assign(bench, { list: () => client.listApprovals({}, { headers }) });
}

test("the gateway reaches approvals over TLS", async () => {
  await using approvals = await serveApprovals(await authority.certify("127.0.0.1"));
  await using gateway = await openGateway({
    REEVE_APPROVALS_URL: approvals.url,
    REEVE_APPROVALS_CA_FILE: approvals.folder.write("ca.crt", authority.ca),
  });
  expect((await gateway.list()).approvals).toEqual([]);
});

test("the gateway trusts another authority without a restart", async () => {
  await using approvals = await serveApprovals(await authority.certify("127.0.0.1"));
  const caFile = approvals.folder.write("ca.crt", other.ca);
  await using gateway = await openGateway({
    REEVE_APPROVALS_URL: approvals.url,
    REEVE_APPROVALS_CA_FILE: caFile,
  });
  await expect(gateway.list()).rejects.toThrow(
    `[unavailable] approvals at ${approvals.url} has a certificate that no trusted authority signed; set REEVE_APPROVALS_CA_FILE`,
  );
  approvals.folder.write("ca.crt", authority.ca);
  await vi.waitFor(async () => expect((await gateway.list()).approvals).toEqual([]), {
    timeout: 20_000,
    interval: 200,
  });
});

describe("requests are unavailable, with the cause,", () => {
  test("if approvals has the certificate of another host", async () => {
    await using approvals = await serveApprovals(await authority.certify("approvals.example"));
    await using gateway = await openGateway({
      REEVE_APPROVALS_URL: approvals.url,
      REEVE_APPROVALS_CA_FILE: approvals.folder.write("ca.crt", authority.ca),
    });
    await expect(gateway.list()).rejects.toThrow(/\[unavailable\].* certificate of another host/);
  });

  test("if only approvals uses TLS", async () => {
    await using approvals = await serveApprovals(await authority.certify("127.0.0.1"));
    const url = `http://127.0.0.1:${approvals.port}`;
    await using gateway = await openGateway({ REEVE_APPROVALS_URL: url });
    await expect(gateway.list()).rejects.toThrow(
      `[unavailable] approvals at ${url} uses TLS on this port; use https://`,
    );
  });

  test("if only the gateway uses TLS", async () => {
    await using approvals = await serveApprovals();
    await using gateway = await openGateway({
      REEVE_APPROVALS_URL: `https://127.0.0.1:${approvals.port}`,
      REEVE_APPROVALS_CA_FILE: approvals.folder.write("ca.crt", authority.ca),
    });
    await expect(gateway.list()).rejects.toThrow(
      `[unavailable] approvals at https://127.0.0.1:${approvals.port} does not use TLS on this port; use http://`,
    );
  });
});

test("a file of authorities without https, or without a certificate, is refused at the start", async () => {
  const caFile = "/ca.crt";
  expect(
    gatewayConfig.safeParse({ REEVE_APPROVALS_CA_FILE: caFile }).error?.issues[0],
  ).toMatchObject({
    path: ["REEVE_APPROVALS_CA_FILE"],
    message: expect.stringContaining("needs REEVE_APPROVALS_URL with https://") as string,
  });
  using folder = new TlsFolder({});
  const settings = {
    REEVE_APPROVALS_URL: "https://127.0.0.1:1",
    REEVE_APPROVALS_CA_FILE: folder.write("ca.crt", "text"),
  };
  await expect(openGatewayBench(settings)).rejects.toThrow(
    `REEVE_APPROVALS_CA_FILE ${folder.path}/ca.crt: it has no certificate`,
  );
});
