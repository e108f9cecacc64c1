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

/** What a probe came to: the agent as bytecode of the interpreter inside and what lies in the workspace, or what went wrong. */
export type SessionProbe = z.infer<typeof answer> | { readonly problem: string };

/** Makes a sandbox and has it compile the agent, so that later ones need not. No foreign code has run in it. It may take 20 seconds, or `withinMs`. */
export async function probeSession(
  driver: Pick<SandboxDriver, "open">,
  python: string,
  workspaceDir: string,
  signal: AbortSignal,
  withinMs = probeMs,
): Promise<SessionProbe> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  const spec = { ...defaultLimits, workspaceDir, readOnly: true };
  try {
    await using session = await driver.open(spec, until);
    const limits = { ...defaultLimits, timeoutMs: probeMs };
    const argv = [python, "-I", "-c", compile, agentProgram];
    let said = "";
    for await (const event of session.exec({ argv, readOnly: true, limits }, until)) {
      if (event.kind === "out") said += Buffer.from(event.bytes).toString("utf8");
    }
    const parsed = answer.safeParse(jsonOf(said));
    return parsed.success ? parsed.data : { problem: `a probe failed: ${said.trim()}` };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) return { problem: error.message };
    if (until.aborted) return { problem: `a probe took longer than ${withinMs / 1_000} s` };
    throw error;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
