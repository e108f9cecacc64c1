import { createServer } from "node:http2";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { HandlerContext } from "@connectrpc/connect";
import { RunService } from "@reeve/contracts/run";
import { systemClock } from "@reeve/platform/async/clock";
import { peerOf } from "@reeve/platform/rpc/credentials/client-certificates";
import type { RunningServer } from "@reeve/platform/rpc/server";
import { serve } from "@reeve/platform/rpc/server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { TlsFolder } from "@reeve/platform/test/support/tls-files";
import { openServerTls } from "@reeve/platform/tls/server-tls";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { beforeAll, describe, expect, test } from "vitest";
import { exitCodes } from "../src/exit-code.ts";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { startReeve } from "./support/reeve-process.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
let authority: Authority;
let other: Authority;

beforeAll(async () => {
  [authority, other] = await Promise.all([Authority.create(), Authority.create()]);
});

interface SecureServer extends RunningServer {
  readonly caFile: string;
  readonly otherCaFile: string;
}

/** Serves an empty list of runs. `name` is that of its certificate; without one, it has no TLS. */
async function serveRuns(name?: string): Promise<SecureServer> {
  const resources = new AsyncDisposableStack();
  const folder = resources.use(
    new TlsFolder(name === undefined ? {} : await authority.certify(name)),
  );
  const tls =
    name === undefined
      ? undefined
      : resources.use(openServerTls(folder.settings, { clock: systemClock, log }));
  const server = resources.use(
    await serve(
      (router) => router.service(RunService, { listRuns: () => ({}) }),
      { host: "127.0.0.1", port: 0, log, services: [RunService], tls },
      never,
    ),
  );
  return {
    url: server.url,
    port: server.port,
    caFile: folder.write("ca.crt", authority.ca),
    otherCaFile: folder.write("other.crt", other.ca),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Runs `reeve runs`, and returns its exit code and its errors. */
async function listRunsBy(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const terminal = new MemoryTerminal();
  const code = await runCli(["runs", "--token", "any", ...args], {
    terminal,
    environment,
    signal: never,
  });
  return { code, stderr: terminal.stderr };
}

test("commands trust the authorities of --ca-file, REEVE_CA_FILE, or NODE_EXTRA_CA_CERTS", async () => {
  await using server = await serveRuns("127.0.0.1");
  const { url, caFile } = server;
  const fine = { code: exitCodes.ok, stderr: "no runs\n" };
  expect(await listRunsBy(["--url", url, "--ca-file", caFile])).toEqual(fine);
  expect(await listRunsBy([], { REEVE_URL: url, REEVE_CA_FILE: caFile })).toEqual(fine);
  // Node reads it when a process starts.
  const reeve = startReeve(["runs", "--url", url, "--token", "any"], {
    NODE_EXTRA_CA_CERTS: caFile,
  });
  expect(await reeve.code).toBe(exitCodes.ok);
});

test("commands present the certificate of --cert-file, or of REEVE_CERT_FILE", async () => {
  const { cert, key } = await authority.certify("ci");
  using folder = new TlsFolder(await authority.certify("127.0.0.1"));
  const caFile = folder.write("ca.crt", authority.ca);
  const certFile = folder.write("client.crt", cert);
  const keyFile = folder.write("client.key", key);
  const settings = { ...folder.settings, REEVE_TLS_CLIENT_CA_FILE: caFile };
  const tls = openServerTls(settings, { clock: systemClock, log });
  using _ = tls;
  const seen: (readonly string[] | undefined)[] = [];
  const listRuns = (_: unknown, { values }: HandlerContext) => {
    seen.push(peerOf(values)?.names);
    return {};
  };
  await using server = await serve(
    (router) => router.service(RunService, { listRuns }),
    { host: "127.0.0.1", port: 0, log, services: [RunService], tls },
    never,
  );
  const base = ["--url", server.url, "--ca-file", caFile];
  await listRunsBy([...base, "--cert-file", certFile, "--key-file", keyFile]);
  await listRunsBy(base, { REEVE_CERT_FILE: certFile, REEVE_KEY_FILE: keyFile });
  await listRunsBy(base);
  expect(seen).toEqual([["CN=ci"], ["CN=ci"], undefined]);
  const { code, stderr } = await listRunsBy([...base, "--cert-file", certFile]);
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toContain("give both --cert-file (REEVE_CERT_FILE) and --key-file");
  const wrong = ["--cert-file", certFile, "--key-file", folder.keyFile];
  expect((await listRunsBy([...base, ...wrong])).stderr).toContain(
    `--key-file (REEVE_KEY_FILE) ${folder.keyFile} is not the key of the first certificate`,
  );
});

describe("the error of a command names the cause and the fix", () => {
  test("if no trusted authority signed the certificate", async () => {
    await using server = await serveRuns("127.0.0.1");
    const problem = `the server at ${server.url} has a certificate that no trusted authority signed; set --ca-file or REEVE_CA_FILE`;
    expect((await listRunsBy(["--url", server.url])).stderr).toContain(problem);
    const { stderr } = await listRunsBy(["--url", server.url, "--ca-file", server.otherCaFile]);
    expect(stderr).toContain(problem);
  });

  test("if the certificate is of another host", async () => {
    await using server = await serveRuns("reeve.example");
    const url = `https://localhost:${server.port}`;
    const { stderr } = await listRunsBy(["--url", url, "--ca-file", server.caFile]);
    expect(stderr).toContain("has a certificate of another host; use a name that it has");
    expect(stderr).toContain("reeve.example");
  });

  test("if the server uses TLS, and the address does not", async () => {
    await using server = await serveRuns("127.0.0.1");
    const url = `http://127.0.0.1:${server.port}`;
    const { stderr } = await listRunsBy(["--url", url]);
    expect(stderr).toContain(`the server at ${url} uses TLS on this port; use https://`);
  });

  test("if the address uses TLS, and the server does not", async () => {
    await using server = await serveRuns();
    const url = `https://127.0.0.1:${server.port}`;
    const { stderr } = await listRunsBy(["--url", url]);
    expect(stderr).toContain(`the server at ${url} does not use TLS on this port; use http://`);
  });

  test("if the address uses TLS, and another server only HTTP/2 without it", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    // A TCP server has an address and a port.
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, stderr } = await listRunsBy(["--url", url]);
    server.close();
    expect(code).toBe(exitCodes.unreachable);
    expect(stderr).toContain(`the server at ${url} does not use TLS on this port; use http://`);
  });

  test("if the file of authorities cannot be used", async () => {
    await using server = await serveRuns("127.0.0.1");
    const missing = await listRunsBy(["--url", server.url, "--ca-file", "/nowhere/ca.crt"]);
    expect(missing.stderr).toContain("--ca-file (REEVE_CA_FILE) /nowhere/ca.crt cannot be read");
    const { stderr } = await listRunsBy(["--url", server.url, "--ca-file", import.meta.filename]);
    expect(stderr).toContain("it has no certificate in PEM format");
  });
});
