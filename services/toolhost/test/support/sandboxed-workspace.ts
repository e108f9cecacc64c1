import { chmod, chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { BubblewrapDriver } from "@reeve/sandbox/bubblewrap/driver";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { FilesOnlyDriver } from "@reeve/sandbox/files-only/driver";
import { UnsafeLocalDriver } from "@reeve/sandbox/unsafe-local/driver";
import { WarmSandboxes } from "@reeve/sandbox/lifecycle/warm-sandboxes";
import type { Collected } from "@reeve/sandbox/files/collect";
import { collect } from "@reeve/sandbox/files/collect";
import { callSettings } from "@reeve/calls/settings/tool-settings";
import type { Sandbox, SandboxDriver } from "@reeve/sandbox/port";
import { defaultLimits } from "@reeve/sandbox/port";
import { commandOf, skipReason } from "@reeve/sandbox/test/support/bubblewrap-here";
import type { CallResult, Progress, Tool } from "@reeve/calls/ports/tool";
import { describe } from "vitest";
import { workspaceSandbox } from "../../src/workspaces/sandbox/workspace-sandbox.ts";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";

const identity = sandboxIdentity(64_017);
const bubblewrap = new BubblewrapDriver(identity);

/** The drivers of a test: one for file tools, and one for the commands of the test. */
export interface Ground {
  readonly name: string;
  readonly tools: SandboxDriver;
  readonly commands: SandboxDriver;
  /** Why it is unavailable here. Empty: it is available. */
  readonly why: string;
}

const isolated: Ground = {
  name: "in a sandbox",
  tools: bubblewrap,
  commands: bubblewrap,
  why: skipReason,
};

/** Where file tools must stay within the workspace. Without isolation, the commands of a test act as code in an earlier sandbox. */
const grounds: readonly Ground[] = [
  isolated,
  {
    name: "without a sandbox",
    tools: new FilesOnlyDriver(new UnsafeLocalDriver(identity)),
    commands: new UnsafeLocalDriver(identity),
    why: "",
  },
];

/** Runs the tests of file tools with each of the drivers. */
export function onEachGround(what: string, tests: (ground: Ground) => void): void {
  for (const ground of grounds) {
    describe.skipIf(ground.why !== "")(`${ground.name}${ground.why}, ${what}`, () => {
      tests(ground);
    });
  }
}

/** A workspace with a sandbox, in which tools can be called. */
export interface SandboxedWorkspace extends AsyncDisposable {
  readonly sandbox: Sandbox;
  /** The sandbox for commands of the test. */
  readonly commands: Sandbox;
  /** Runs a shell script in the workspace. */
  sh(script: string): Promise<Collected>;
  /** Runs a script that prepares a test. Throws its error output. */
  prepare(script: string): Promise<void>;
  /** Calls a tool as an agent does, with the given settings. */
  call(tool: Tool, args: JsonObject, options?: CallOptions): Promise<CallResult>;
}

const quota = { bytes: defaultLimits.workspaceBytes, files: defaultLimits.workspaceFiles };

export interface CallOptions {
  readonly readOnly?: boolean;
  readonly report?: (progress: Progress) => void;
}

export async function sandboxedWorkspace(
  signal: AbortSignal,
  ground = isolated,
): Promise<SandboxedWorkspace> {
  const folder = await temporaryFolder();
  await chmod(folder.path, 0o711);
  const workspaceDir = join(folder.path, "run_1");
  await mkdir(workspaceDir, { mode: 0o700 });
  await chown(workspaceDir, identity.uid, identity.gid);
  const warmth = { idleMs: 60_000, maxIdle: 4 };
  const warm = new WarmSandboxes(ground.tools, warmth);
  const others = new WarmSandboxes(ground.commands, warmth);
  const sandbox = warm.sandboxFor(workspaceDir);
  const commands = others.sandboxFor(workspaceDir);
  const sh = (script: string) => collect(commands, commandOf("/bin/sh", "-c", script), signal);
  return {
    sandbox,
    commands,
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
          startedBy: "",
          traceparent: "",
          args,
          settings: { ...callSettings(undefined), readOnly },
          sandbox: () => Promise.resolve(workspaceSandbox(sandbox, { quota, onProgress: report })),
          ask: () => Promise.reject(new Error("no question is expected")),
          report,
        },
        signal,
      ),
    [Symbol.asyncDispose]: async () => {
      await warm[Symbol.asyncDispose]();
      await others[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
