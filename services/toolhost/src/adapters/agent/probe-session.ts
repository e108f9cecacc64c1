import { Failure } from "@reeve/platform/failure";
import type { SandboxDriver } from "../../ports/sandbox.ts";
import { defaultLimits } from "../../ports/sandbox.ts";
import { agentProgram } from "../../sandboxed/programs.ts";

const probeMs = 20_000;
const compile =
  "import marshal, sys; print(marshal.dumps(compile(sys.argv[1], '<agent>', 'exec')).hex())";

/** What a probe came to: the agent as bytecode of the interpreter inside, or what went wrong. */
export type Probed = { readonly agent: string } | { readonly problem: string };

/** Makes a sandbox and has it compile the agent, so that later ones need not. No foreign code has run in it. */
export async function probeSession(
  driver: Pick<SandboxDriver, "open">,
  python: string,
  workspaceDir: string,
  signal: AbortSignal,
): Promise<Probed> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(probeMs)]);
  const spec = { ...defaultLimits, workspaceDir, readOnly: true };
  try {
    await using session = await driver.open(spec, until);
    const limits = { ...defaultLimits, timeoutMs: probeMs };
    const argv = [python, "-I", "-c", compile, agentProgram];
    let said = "";
    for await (const event of session.exec({ argv, readOnly: true, limits }, until)) {
      if (event.kind === "out") said += Buffer.from(event.bytes).toString("utf8");
    }
    const [, agent] = /^((?:[0-9a-f]{2})+)\n$/.exec(said) ?? [];
    return agent === undefined ? { problem: `a probe failed: ${said.trim()}` } : { agent };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) return { problem: error.message };
    throw error;
  }
}
