import { randomBytes } from "node:crypto";
import type {
  ProbeReport,
  SandboxDriver,
  SandboxSession,
  SessionRecord,
  SessionSpec,
} from "../port.ts";
import { AgentSession } from "../agent/agent-session.ts";
import { callLimits, environment } from "../agent/call-limits.ts";
import type { Identity } from "../host/identity.ts";
import { systemProgram } from "../host/system-view.ts";
import { watchDiskLimit } from "../host/watch-disk-limit.ts";
import { startLocalAgent } from "./start.ts";

const bounds = { memory: false, processes: false };

/**
 * Runs commands without isolation, as processes of this machine that see all that their user sees. For development on machines
 * without a sandbox. It keeps only two promises of the contract: limits apply to single processes, and a call ends with its
 * processes, unless they resist.
 */
export class UnsafeLocalDriver implements SandboxDriver {
  readonly name = "unsafe-local";
  readonly #identity: Identity;
  readonly #open = new Map<string, SandboxSession>();

  constructor(identity: Identity) {
    this.#identity = identity;
  }

  probe(): Promise<ProbeReport> {
    if (systemProgram("python3") !== undefined) {
      return Promise.resolve({ works: true, isolates: false, bounds });
    }
    const fixes = ["install the package python3: apt-get install python3"];
    return Promise.resolve({ works: false, reason: "python3 is not installed", fixes });
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    signal.throwIfAborted();
    const channel = await startLocalAgent(this.#identity);
    const sessionId = randomBytes(8).toString("hex");
    void channel.ended.then(() => this.#open.delete(sessionId));
    const session = new AgentSession({
      sessionId,
      channel,
      scratchPaths: [],
      settingsFor: (limits) => ({
        folder: spec.workspaceDir,
        env: { ...environment, HOME: spec.workspaceDir },
        limits: callLimits(limits, bounds),
      }),
      watchDiskLimit: ({ workspaceBytes: bytes, workspaceFiles: files }, until) =>
        watchDiskLimit({ folder: spec.workspaceDir, bytes, files }, this.#identity, until),
    });
    this.#open.set(sessionId, session);
    return session;
  }

  list(): Promise<readonly SessionRecord[]> {
    const sessions = [...this.#open.keys()];
    return Promise.resolve(sessions.map((sessionId) => ({ sessionId, isOrphan: false })));
  }

  async destroy(sessionId: string): Promise<void> {
    await this.#open.get(sessionId)?.[Symbol.asyncDispose]();
  }
}
