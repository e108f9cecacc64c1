import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

interface Line {
  readonly msg: string;
  readonly time: string;
  readonly trace_id?: string;
  readonly span_id?: string;
}

/** Runs a program that exports spans to `endpoint`, and returns its log lines. */
async function linesOf(
  endpoint: string | undefined,
  settings: Readonly<Record<string, string>> = {},
): Promise<readonly Line[]> {
  const program = join(import.meta.dirname, "support/traced-program.ts");
  const child = spawn(process.execPath, [program], {
    env: {
      ...(endpoint !== undefined && { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
      OTEL_BSP_SCHEDULE_DELAY: "10",
      ...settings,
    },
    stdio: ["ignore", "inherit", "pipe"],
  });
  const [output, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(code).toBe(0);
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

/** A collector that accepts connections and never answers. */
async function silentCollector(): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => void sockets.add(socket.on("error", () => {})));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function line(lines: readonly Line[], message: string): Line | undefined {
  return lines.find(({ msg }) => msg === message);
}

test("only a line that is logged inside a span has the span's ids", async () => {
  await using collector = await silentCollector();
  const lines = await linesOf(collector.url);
  expect(line(lines, "in a span")?.trace_id).toMatch(/^[0-9a-f]{32}$/);
  expect(line(lines, "in a span")?.span_id).toMatch(/^[0-9a-f]{16}$/);
  expect(line(lines, "in none")).not.toHaveProperty("trace_id");
});

test("a collector that never answers delays the end of a process for a bounded time", async () => {
  await using collector = await silentCollector();
  const lines = await linesOf(collector.url);
  const timeOf = (message: string) => Date.parse(line(lines, message)?.time ?? "");
  // Two seconds, although the exporter's own timeout is ten seconds by default.
  expect(timeOf("ended") - timeOf("in none")).toBeLessThan(8_000);
});

test("an unreachable collector is logged once, and delays nothing", async () => {
  const { url, ...collector } = await silentCollector();
  await collector[Symbol.asyncDispose]();
  const lines = await linesOf(url, { OTEL_EXPORTER_OTLP_TIMEOUT: "100" });
  expect(line(lines, "ended")).toBeDefined();
  const warnings = lines.filter(
    ({ msg }) => msg === "spans were not exported; check the OTLP endpoint",
  );
  expect(warnings).toHaveLength(1);
});

test("a process without tracing settings has no spans", async () => {
  const lines = await linesOf(undefined);
  expect(lines.map(({ msg }) => msg)).toEqual(["in a span", "in none", "ended"]);
  expect(line(lines, "in a span")).not.toHaveProperty("trace_id");
});
