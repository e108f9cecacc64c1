import type { Sandbox } from "@reeve/sandbox/port";
import { expect, test } from "vitest";
import { contextOf } from "../../../test/support/call-context.ts";
import { executeCode } from "./execute-code.ts";
import { runCommand } from "./run-command.ts";

const never = new AbortController().signal;
const tools = { run_command: runCommand, execute_code: executeCode };

/** Calls a tool whose command ends at once, with the default limit of 30 s. Returns the limit of the command and stderr. */
async function called(name: keyof typeof tools, timeout?: number) {
  let timeoutMs = 0;
  const sandbox: Sandbox = {
    isolation: "memory",
    async *exec({ limits }) {
      ({ timeoutMs } = limits);
      yield { kind: "end", reason: "exit", code: 0, durationMs: 1 };
    },
  };
  const args = { command: ["true"], code: "1", ...(timeout !== undefined && { timeout }) };
  const context = contextOf(args, undefined, { sandbox: async () => sandbox });
  const { structured } = await tools[name].call(context, never);
  return { timeoutMs, stderr: structured?.["stderr"] };
}

// Requirement: KIT-1, KIT-3
test.each(["run_command", "execute_code"] as const)(
  "%s has a time limit of 30 s by default",
  async (name) => {
    expect(await called(name)).toEqual({ timeoutMs: 30_000, stderr: "" });
  },
);

// Requirement: KIT-3
test.each(["run_command", "execute_code"] as const)(
  "a model may shorten the time limit of %s but not extend it, and reads that it was not extended",
  async (name) => {
    expect(await called(name, 5)).toEqual({ timeoutMs: 5_000, stderr: "" });
    expect(await called(name, 600)).toEqual({
      timeoutMs: 30_000,
      stderr: "[the time limit is 30 s: the requested 600 s are more than this agent may use]",
    });
  },
);
