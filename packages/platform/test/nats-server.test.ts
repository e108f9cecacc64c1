import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, expect, test } from "vitest";
import { createLogger } from "../src/telemetry/logger.ts";
import { startNatsServer } from "../src/nats/nats-server.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const folder = mkdtempSync(join(tmpdir(), "reeve-nats-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Connects to `port`, and reports whether the other end has closed the connection. */
async function connectionTo(port: number): Promise<{ readonly closed: Promise<unknown> }> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.resume();
  await once(socket, "connect");
  // A killed server resets its connections, which also closes them.
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.once("close", () => resolve());
  return { closed };
}

/** Returns the error code of a connection to `port`, or undefined if it succeeds. */
async function refusalOf(port: number): Promise<string | undefined> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    socket.destroy();
  }
}

test("a server ends with its owner, even if the owner is killed", async () => {
  const owner = spawn(
    process.execPath,
    [join(import.meta.dirname, "support/nats-owner.ts"), join(folder, "owned")],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [said] = (await once(owner.stdout, "data")) as [Buffer];
  const { port } = JSON.parse(said.toString()) as { readonly port: number };
  const { closed } = await connectionTo(port);
  owner.kill("SIGKILL");
  await closed;
  // The kernel closes the sockets of a killed process one by one: the connection may close before the port.
  await expect.poll(() => refusalOf(port), { timeout: 10_000 }).toBe("ECONNREFUSED");
});

test("a server ends when it is disposed, and its port is free", async () => {
  const first = await startNatsServer({ storeDir: join(folder, "first"), log }, never);
  const { closed } = await connectionTo(first.port);
  await first[Symbol.asyncDispose]();
  await closed;
  const storeDir = join(folder, "first");
  await using second = await startNatsServer({ storeDir, port: first.port, log }, never);
  expect(second.port).toBe(first.port);
});

test("a port that is in use is refused with the error of the server", async () => {
  await using first = await startNatsServer({ storeDir: join(folder, "a"), log }, never);
  const storeDir = join(folder, "b");
  await expect(startNatsServer({ storeDir, port: first.port, log }, never)).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringMatching(
      /^nats-server on port \d+ exited during startup: .*address already in use/,
    ),
  });
});

test("an aborted start ends at once", async () => {
  const storeDir = join(folder, "c");
  const gone = AbortSignal.abort(new Error("left"));
  await expect(startNatsServer({ storeDir, log }, gone)).rejects.toThrow("left");
});
