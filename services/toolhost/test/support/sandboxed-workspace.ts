import { chmod, chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { BubblewrapDriver } from "../../src/adapters/bubblewrap/bubblewrap-driver.ts";
import { sandboxIdentity } from "../../src/adapters/bubblewrap/identity.ts";
import { WarmSandboxes } from "../../src/adapters/warm-sandboxes.ts";
import type { Collected } from "../../src/app/collect.ts";
import { collect } from "../../src/app/collect.ts";
import { callSettings } from "../../src/domain/tool-settings.ts";
import type { Sandbox, SandboxCommand } from "../../src/ports/sandbox.ts";
import { defaultLimits } from "../../src/ports/sandbox.ts";
import type { Progress, Tool, ToolOutcome } from "../../src/ports/tool.ts";
import { temporaryFolder } from "./toolhost.ts";

const identity = sandboxIdentity(64_017);
const driver = new BubblewrapDriver(identity);

/** Why sandboxes do not work on this machine, for the names of tests that are skipped; empty when they do. */
export const whyNoSandbox = await probed();

/** A workspace with a sandbox over it, and a way to call tools there. */
export interface SandboxedWorkspace extends AsyncDisposable {
  readonly sandbox: Sandbox;
  /** Runs a shell script in the workspace. */
  sh(script: string): Promise<Collected>;
  /** The same for a script that only prepares something. Throws what it complains of. */
  prepare(script: string): Promise<void>;
  /** Calls a tool as an agent does, with settings of its own. */
  call(tool: Tool, args: JsonObject, options?: CallOptions): Promise<ToolOutcome>;
}

export interface CallOptions {
  readonly readOnly?: boolean;
  readonly report?: (progress: Progress) => void;
}

export async function sandboxedWorkspace(signal: AbortSignal): Promise<SandboxedWorkspace> {
  const folder = await temporaryFolder();
  await chmod(folder.path, 0o711);
  const workspaceDir = join(folder.path, "run_1");
  await mkdir(workspaceDir, { mode: 0o700 });
  await chown(workspaceDir, identity.uid, identity.gid);
  const warm = new WarmSandboxes(driver, { idleMs: 60_000, mostIdle: 4 });
  const sandbox = warm.over(workspaceDir);
  const sh = (script: string) => collect(sandbox, commandOf("/bin/sh", "-c", script), signal);
  return {
    sandbox,
    sh,
    prepare: async (script) => {
      const { end, text } = await sh(script);
      if (end.code !== 0) throw new Error(`the workspace is not prepared: ${text("stderr")}`);
    },
    call: (tool, args, { readOnly = false, report = () => undefined } = {}) =>
      tool.call(
        {
          tenant: "acme",
          runId: "run_1",
          callId: "run_1-2-0",
          traceparent: "",
          args,
          settings: { ...callSettings(undefined), readOnly },
          sandbox: () => Promise.resolve(sandbox),
          ask: () => Promise.reject(new Error("nobody is to be asked")),
          report,
        },
        signal,
      ),
    [Symbol.asyncDispose]: async () => {
      await warm[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export function commandOf(...argv: readonly string[]): SandboxCommand {
  return { argv, limits: { ...defaultLimits, timeoutMs: 30_000 } };
}

async function probed(): Promise<string> {
  const report = await driver.probe(AbortSignal.timeout(30_000));
  return report.works ? "" : ` (skipped: ${report.reason})`;
}
