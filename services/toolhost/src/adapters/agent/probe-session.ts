import { Failure } from "@reeve/platform/failure";
import type { SandboxDriver } from "../../ports/sandbox.ts";
import { defaultLimits } from "../../ports/sandbox.ts";

const probeMs = 20_000;

/** Makes a sandbox and has it compute something. Resolves with what went wrong, undefined when nothing did. */
export async function probeSession(
  driver: Pick<SandboxDriver, "open">,
  workspaceDir: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(probeMs)]);
  try {
    await using session = await driver.open(
      { ...defaultLimits, workspaceDir, readOnly: true },
      until,
    );
    const limits = { ...defaultLimits, timeoutMs: probeMs };
    const argv = ["python3", "-I", "-c", "print(6 * 7)"];
    let said = "";
    for await (const event of session.exec({ argv, readOnly: true, limits }, until)) {
      if (event.kind === "out") said += Buffer.from(event.bytes).toString("utf8");
    }
    return said.trim() === "42" ? undefined : `a probe failed: ${said.trim()}`;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) return error.message;
    throw error;
  }
}
