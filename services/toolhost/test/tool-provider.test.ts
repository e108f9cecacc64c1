import { status } from "@grpc/grpc-js";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { environmentSecrets } from "../src/secrets/environment-secrets.ts";
import { Secrets } from "../src/secrets/secrets.ts";
import { providerConfig } from "../src/tools/providers/provider-config.ts";
import { ToolProvider } from "../src/tools/providers/tool-provider.ts";
import type { Progress } from "@reeve/calls/ports/tool";
import { contextOf } from "./support/call-context.ts";
import { noSecrets } from "./support/no-secrets.ts";
import { answering, echo, provided, toolNamed } from "./support/providers/provided-tools.ts";
import type { ServedCall } from "./support/providers/provider-server.ts";
import { ProviderServer } from "./support/providers/provider-server.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;

describe("a call of a provider's tool", () => {
  test("has its id, its arguments, and the configured metadata, and returns all progress", async () => {
    await using acme = await provided(
      (call) => {
        call.say({ case: "progress", value: { progress: 1, total: 2, message: "half" } });
        call.say({ case: "result", value: { structured: { said: "hi" } } });
        call.end();
      },
      { metadata: { authorization: "Bearer secret" } },
    );
    const reports: Progress[] = [];
    const outcome = await acme.call(never, (report) => reports.push(report));
    expect(outcome).toEqual({
      content: '{"said":"hi"}',
      isError: false,
      structured: { said: "hi" },
    });
    expect(reports).toEqual([{ progress: 1, total: 2, message: "half" }]);
    const [served] = acme.server.calls;
    expect(served?.request).toMatchObject({
      callId: "run_1-2-0",
      name: "echo",
      arguments: { text: "hi" },
      tenant: "acme",
    });
    expect(served?.metadata).toMatchObject({ authorization: "Bearer secret" });
  });

  test("returns files as attachments", async () => {
    await using acme = await provided((call) => {
      const files = [{ mediaType: "image/png", content: new Uint8Array([1, 2, 3]) }];
      call.say({ case: "result", value: { content: "drawn", files } });
      call.end();
    });
    expect(await acme.call()).toMatchObject({
      content: "drawn\n[file 1: image/png, 3 bytes]",
      attachments: [{ label: "file 1", mediaType: "image/png" }],
    });
  });

  test("that is cancelled ends at the provider", async () => {
    const begun = Promise.withResolvers<ServedCall>();
    await using acme = await provided(begun.resolve);
    const stop = new AbortController();
    const call = acme.call(stop.signal);
    const served = await begun.promise;
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await served.cancelled;
  });

  test.each<[string, (call: ServedCall) => void, RegExp]>([
    [
      "sends more than one result",
      (call) => {
        call.say({ case: "result", value: { content: "one" } });
        answering("two")(call);
      },
      /sent more after its result; the outcome of the call is unknown/,
    ],
    ["ends without a result", (call) => call.end(), /ended the call without a result/],
    [
      "sends an invalid message",
      (call) => {
        call.sayBytes(new Uint8Array([255, 255, 255]));
        call.end();
      },
      /broke during the call.*outcome of the call is unknown/,
    ],
    [
      "sends too large a message",
      (call) => answering("x".repeat(17 * 2 ** 20))(call),
      /exceeded a limit.*outcome of the call is unknown/,
    ],
    [
      "knows no such tool",
      (call) => call.fail(status.NOT_FOUND, "no tool echo"),
      /does not have this tool \(no tool echo\)/,
    ],
    [
      "does not let us in",
      (call) => call.fail(status.UNAUTHENTICATED, "who are you"),
      /refuses calls of this toolhost \(who are you\)/,
    ],
    [
      "breaks",
      (call) => call.fail(status.UNKNOWN, "ZeroDivisionError"),
      /ended the call with UNKNOWN: ZeroDivisionError; the outcome of the call is unknown/,
    ],
  ])("of a provider that %s gets an error result", async (_, serve, said) => {
    await using acme = await provided(serve);
    const outcome = await acme.call();
    expect(outcome.isError).toBe(true);
    expect(outcome.content).toMatch(said);
  });

  test.each(["NOT_FOUND", "UNIMPLEMENTED", "INVALID_ARGUMENT", "PERMISSION_DENIED"] as const)(
    "that is refused with %s has an unknown outcome only when the provider had started it",
    async (code) => {
      const refuse = (call: ServedCall) => call.fail(status[code], "no");
      await using refusing = await provided(refuse);
      expect((await refusing.call()).content).not.toContain("unknown");
      await using late = await provided((call) =>
        call.say({ case: "progress", value: { progress: 1 } }),
      );
      const outcome = await late.call(never, () => late.server.calls.forEach(refuse));
      expect(outcome.content).toMatch(/outcome of the call is unknown$/);
    },
  );

  test("that exceeds its time limit is abandoned, and cancelled at the provider", async () => {
    const begun = Promise.withResolvers<ServedCall>();
    await using acme = await provided(begun.resolve, { time_limit_seconds: 0.2 });
    const outcome = await acme.call();
    expect(outcome).toMatchObject({ isError: true, endReason: "timeout" });
    expect(outcome.content).toContain("did not end the call within 0.2 s");
    await (
      await begun.promise
    ).cancelled;
  });

  test("of a provider that dies has an unknown outcome, and the next call is not made", async () => {
    const begun = Promise.withResolvers<ServedCall>();
    await using acme = await provided(begun.resolve);
    const call = acme.call();
    await begun.promise;
    await acme.server[Symbol.asyncDispose]();
    expect((await call).content).toContain("the outcome of the call is unknown");
    expect((await acme.call()).content).toMatch(/is unavailable; the call was not made/);
    expect(acme.provider.tools).toHaveLength(1);
  });

  test("is repeated after the death of its provider only when it is idempotent", async () => {
    for (const [idempotent, made] of [
      [true, 2],
      [false, 1],
    ] as const) {
      const calls: ServedCall[] = [];
      const tools = [{ ...echo, idempotent }];
      await using acme = await provided(
        (call) => {
          calls.push(call);
          if (calls.length === 1) call.fail(status.UNAVAILABLE, "going away");
          else answering("done")(call);
        },
        {},
        { tools },
      );
      const outcome = await acme.call();
      expect(calls).toHaveLength(made);
      expect(outcome.isError).toBe(!idempotent);
    }
  });
});

test("a toolhost starts without a provider that is unavailable, and has its tools later", async () => {
  const listed = Promise.withResolvers<void>();
  const { port } = await gone();
  const config = providerConfig({ target: `127.0.0.1:${port}` });
  await using provider = new ToolProvider("acme", config, {
    log,
    secrets: noSecrets,
    onTools: listed.resolve,
  });
  await provider.tried;
  expect(provider.tools).toEqual([]);
  await using server = await ProviderServer.start(
    { tools: [echo] },
    answering("back"),
    undefined,
    port,
  );
  await listed.promise;
  const outcome = await toolNamed(provider, "acme__echo").call(contextOf(), never);
  expect(outcome.content).toBe("back");
  expect(server.calls).toHaveLength(1);
});

test("metadata for a provider without TLS is reported in a warning, without its values", async () => {
  await using server = await ProviderServer.start({}, () => undefined);
  const lines: string[] = [];
  const warnings = pino({ level: "warn" }, { write: (line: string) => lines.push(line) });
  const ports = { log: warnings, secrets: noSecrets, onTools: () => undefined };
  const metadata = { authorization: "Bearer SECRET" };
  const config = providerConfig({ target: `127.0.0.1:${server.port}`, metadata });
  await using provider = new ToolProvider("acme", config, ports);
  await provider.tried;
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("without TLS");
  expect(lines[0]).not.toContain("SECRET");
});

test("metadata has the secrets of the tenant that calls, and a missing one is a result that says so", async () => {
  await using server = await ProviderServer.start({ tools: [echo] }, (call) => {
    call.fail(status.PERMISSION_DENIED, `no access with ${String(call.metadata["authorization"])}`);
  });
  const names = { acme: { token: "ACME" }, globex: { token: "GLOBEX" } };
  const values = { ACME: "canary-of-acme", GLOBEX: "canary-of-globex" };
  const secrets = new Secrets([environmentSecrets(names, values)], processRedaction);
  const metadata = { authorization: "Bearer ${secret:token}" };
  const target = `127.0.0.1:${server.port}`;
  const config = providerConfig({ target, metadata, catalog_tenant: "acme" });
  const ports = { log, secrets, onTools: () => undefined };
  await using provider = new ToolProvider("acme", config, ports);
  await provider.tried;
  const tool = toolNamed(provider, "acme__echo");
  const callAs = async (tenant: string) =>
    await tool.call(contextOf({}, undefined, { tenant }), never);
  const refused = await callAs("globex");
  expect(server.calls.map((call) => call.metadata["authorization"])).toEqual([
    "Bearer canary-of-globex",
  ]);
  expect(refused.content).toContain("no access with Bearer [redacted]");
  expect(await callAs("initech")).toEqual({
    content: expect.stringMatching(
      /^the secret token of tenant initech does not exist; .*; the call was not made$/,
    ),
    isError: true,
  });
  expect(server.calls).toHaveLength(1);
});

/** Returns the address of a provider that has ended. */
async function gone(): Promise<ProviderServer> {
  await using server = await ProviderServer.start({}, () => undefined);
  return server;
}
