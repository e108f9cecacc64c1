import { PassThrough } from "node:stream";
import { setImmediate as immediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { defaultLimits } from "../port.ts";
import { AgentSession } from "./agent-session.ts";
import { FrameReader, fromAgent, toAgent } from "./frames.ts";
import { SandboxGone } from "./sandbox-gone.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const never = new AbortController().signal;

/** Encodes a frame of an agent. */
function agentFrame(kind: string, content: object): Buffer {
  const text = Buffer.from(JSON.stringify(content));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(text.length);
  head.write(kind, 4);
  return Buffer.concat([head, text]);
}

/** A session whose agent reports success for each command and runs nothing. */
function idleSession(): AgentSession {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = Promise.withResolvers<string>();
  const reader = new FrameReader();
  input.on("data", (chunk: Buffer) => {
    for (const { kind } of reader.read(chunk)) {
      if (kind === toAgent.call) output.write(agentFrame(fromAgent.started, {}));
      if (kind !== toAgent.inputEnd) continue;
      output.write(agentFrame(fromAgent.end, { code: 0 }));
      output.write(agentFrame(fromAgent.settled, { clean: true }));
    }
  });
  const kill = () => {
    input.destroy();
    return Promise.resolve(ended.resolve("killed"));
  };
  return new AgentSession({
    sessionId: "idle",
    channel: { input, output, ended: ended.promise, kill },
    scratchPaths: [],
    settingsFor: () => ({ folder: "/workspace", env: {}, limits: {} }),
  });
}

/** Runs a command and returns a weak reference to its input. */
async function runWithInput(session: AgentSession): Promise<WeakRef<Uint8Array>> {
  const stdin = new Uint8Array(1_000);
  const limits = { ...defaultLimits, timeoutMs: 60_000 };
  const events = await Array.fromAsync(session.exec({ argv: ["cat"], stdin, limits }, never));
  expect(events.at(-1)).toMatchObject({ kind: "end", reason: "exit", code: 0 });
  expect(await session.settled()).toBe(true);
  return new WeakRef(stdin);
}

test("a session keeps no reference to a finished command", async () => {
  await using session = idleSession();
  const inputs = [];
  for (let count = 0; count < 10; count++) inputs.push(await runWithInput(session));
  await immediate();
  collectGarbage();
  expect(inputs.filter((input) => input.deref() !== undefined)).toEqual([]);
});

test("a command for a dead agent is rejected as not started, so another sandbox may run it", async () => {
  const session = idleSession();
  await session[Symbol.asyncDispose]();
  await expect(runWithInput(session)).rejects.toBeInstanceOf(SandboxGone);
});

test("a session is not settled before its agent has started", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = Promise.withResolvers<string>();
  await using session = new AgentSession({
    sessionId: "starting",
    channel: { input, output, ended: ended.promise, kill: async () => ended.resolve("killed") },
    scratchPaths: [],
    settingsFor: () => ({ folder: "/workspace", env: {}, limits: {} }),
  });
  const order: string[] = [];
  const settled = session.settled().then((isSettled) => order.push(`settled: ${isSettled}`));
  await new Promise((resolve) => setImmediate(resolve));
  order.push("started");
  output.write(agentFrame(fromAgent.ready, {}));
  await settled;
  expect(order).toEqual(["started", "settled: true"]);
});

test("a session whose sandbox ends before its agent starts is not settled", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = Promise.resolve("bwrap: no such file");
  await using session = new AgentSession({
    sessionId: "ended",
    channel: { input, output, ended, kill: async () => undefined },
    scratchPaths: [],
    settingsFor: () => ({ folder: "/workspace", env: {}, limits: {} }),
  });
  expect(await session.settled()).toBe(false);
});
