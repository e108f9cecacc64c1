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

/** A frame of an agent. */
function said(kind: string, content: object): Buffer {
  const text = Buffer.from(JSON.stringify(content));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(text.length);
  head.write(kind, 4);
  return Buffer.concat([head, text]);
}

/** A session whose agent does nothing, and does it well. */
function idleSession(): AgentSession {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = Promise.withResolvers<string>();
  const reader = new FrameReader();
  input.on("data", (chunk: Buffer) => {
    for (const { kind } of reader.read(chunk)) {
      if (kind === toAgent.call) output.write(said(fromAgent.started, {}));
      if (kind !== toAgent.inputEnd) continue;
      output.write(said(fromAgent.end, { code: 0 }));
      output.write(said(fromAgent.settled, { clean: true }));
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

/** Runs a command and gives what would keep its input from being forgotten. */
async function given(session: AgentSession): Promise<WeakRef<Uint8Array>> {
  const stdin = new Uint8Array(1_000);
  const limits = { ...defaultLimits, timeoutMs: 60_000 };
  const events = await Array.fromAsync(session.exec({ argv: ["cat"], stdin, limits }, never));
  expect(events.at(-1)).toMatchObject({ kind: "end", reason: "exit", code: 0 });
  expect(await session.settled()).toBe(true);
  return new WeakRef(stdin);
}

test("a session keeps nothing of a command that is over", async () => {
  await using session = idleSession();
  const inputs = [];
  for (let count = 0; count < 10; count++) inputs.push(await given(session));
  await immediate();
  collectGarbage();
  expect(inputs.filter((input) => input.deref() !== undefined)).toEqual([]);
});

test("a command of an agent that is gone does not begin, and others may run it", async () => {
  const session = idleSession();
  await session[Symbol.asyncDispose]();
  await expect(given(session)).rejects.toBeInstanceOf(SandboxGone);
});
