import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { mcpServerConfig } from "../src/tools/mcp/mcp-config.ts";
import { McpServer } from "../src/tools/mcp/mcp-server.ts";
import type { CallContext } from "@reeve/calls/ports/tool";
import { noSecrets } from "./support/no-secrets.ts";
import { contextOf } from "./support/call-context.ts";

const log = createLogger("test", "silent");
const identity = sandboxIdentity(64_017);
const never = new AbortController().signal;
const program = join(import.meta.dirname, "support/slow-asking-server.ts");

async function connected(args: readonly string[], onTools: () => void = () => undefined) {
  const config = mcpServerConfig({
    command: process.execPath,
    args: [program, ...args],
    sandbox: false,
    elicitation: true,
  });
  const server = new McpServer("bank", config, { log, identity, secrets: noSecrets, onTools });
  await server.tried;
  return server;
}

/** A person who accepts everything, and the questions that the person saw. */
function person() {
  const questions: string[] = [];
  const ask: CallContext["ask"] = async ({ message }) => {
    questions.push(message);
    return { kind: "accepted", content: { ok: true } };
  };
  return { questions, ask };
}

/** A call that is cancelled before the server asks its question. */
async function abandoned(bank: McpServer, ask: CallContext["ask"]) {
  const stop = new AbortController();
  const context = contextOf({ to: "later" }, () => stop.abort(new Error("enough")), { ask });
  await expect(bank.call("pay", context, stop.signal)).rejects.toThrow("enough");
}

test("a question for a cancelled call goes to no person, not even to that of the next call", async () => {
  await using bank = await connected([]);
  const [one, other] = [person(), person()];
  await abandoned(bank, one.ask);
  const context = contextOf({ to: "other" }, undefined, { ask: other.ask });
  expect(await bank.call("pay", context, never)).toMatchObject({ content: "other: accept" });
  expect(one.questions).toEqual([]);
  expect(other.questions).toEqual(["Pay other?"]);
});

test("a server that does not answer a cancelled call counts as lost before the next call", async () => {
  const back = Promise.withResolvers<void>();
  let times = 0;
  await using bank = await connected(["mute"], () => {
    if (++times === 2) back.resolve();
  });
  const [one, other] = [person(), person()];
  await abandoned(bank, one.ask);
  const context = contextOf({ to: "other" }, undefined, { ask: other.ask });
  await expect(bank.call("pay", context, never)).rejects.toThrow(/the call was not made/);
  await back.promise;
  expect(await bank.call("pay", context, never)).toMatchObject({ content: "other: accept" });
  expect(other.questions).toEqual(["Pay other?"]);
});
