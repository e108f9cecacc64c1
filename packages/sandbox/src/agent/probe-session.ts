import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { SandboxDriver } from "../port.ts";
import { defaultLimits } from "../port.ts";
import { agentProgram } from "../programs/programs.ts";

const probeMs = 20_000;
const compile = `import json, marshal, os, sys
agent = marshal.dumps(compile(sys.argv[1], "<agent>", "exec")).hex()
print(json.dumps({"agent": agent, "files": os.listdir()}))`;

const answer = z.object({ agent: z.string(), files: z.array(z.string()) });

/** Result of a probe: the agent as bytecode of the sandbox's interpreter and the files of the workspace, or the error. */
export type SessionProbe =
  | z.infer<typeof answer>
  | { readonly problem: string; readonly isTransient: boolean };

/**
 * Starts a sandbox and compiles the agent in it, so that later sandboxes start faster. The bytecode can be trusted, because
 * no untrusted code runs in that sandbox. Fails after `timeoutMs`, by default 20 seconds.
 */
export async function probeSession(
  driver: Pick<SandboxDriver, "open">,
  python: string,
  workspaceDir: string,
  signal: AbortSignal,
  timeoutMs = probeMs,
): Promise<SessionProbe> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const spec = { ...defaultLimits, workspaceDir, readOnly: true };
  try {
    await using session = await driver.open(spec, until);
    const limits = { ...defaultLimits, timeoutMs: probeMs };
    const argv = [python, "-I", "-c", compile, agentProgram];
    let output = "";
    for await (const event of session.exec({ argv, readOnly: true, limits }, until)) {
      if (event.kind === "out") output += Buffer.from(event.bytes).toString("utf8");
    }
    const parsed = answer.safeParse(jsonOf(output));
    return parsed.success
      ? parsed.data
      : { problem: `the probe failed: ${output.trim()}`, isTransient: false };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) return { problem: error.message, isTransient: passes(error) };
    const problem = `the probe took longer than ${timeoutMs / 1_000} s`;
    if (until.aborted) return { problem, isTransient: true };
    throw error;
  }
}

/** Whether what caused a failure may pass without a change. */
export function passes({ kind }: Failure): boolean {
  return kind === "unavailable" || kind === "exhausted";
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
