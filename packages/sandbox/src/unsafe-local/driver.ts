import { randomBytes } from "node:crypto";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type {
  ProbeReport,
  SandboxDriver,
  SandboxSession,
  SessionRecord,
  SessionSpec,
} from "../port.ts";
import { agentArguments } from "../agent/agent-program.ts";
import { AgentSession } from "../agent/agent-session.ts";
import { callLimits, environment } from "../agent/call-limits.ts";
import type { Identity } from "../host/identity.ts";
import { systemProgram } from "../host/system-view.ts";
import { watchDiskLimit } from "../host/watch-disk-limit.ts";
import { endProcess } from "./end-process.ts";

const isCounted = { memory: false, processes: false };

/**
 * No isolation: commands are processes of this machine, which see all that their user sees. For development where nothing
 * else is to be had. What it keeps of the contract is limits of single processes, and that a call ends with all that it
 * started, as far as that does not resist.
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
      return Promise.resolve({ works: true, isolates: false, bounds: isCounted });
    }
    const fixes = ["install the package python3: apt-get install python3"];
    return Promise.resolve({ works: false, reason: "there is no python3", fixes });
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    signal.throwIfAborted();
    const [python = "", ...args] = agentArguments(systemProgram("python3") ?? "python3");
    const { uid, gid, isDedicated } = this.#identity;
    const child = spawn(python, args, {
      cwd: "/",
      env: {},
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
      ...(isDedicated && { uid, gid }),
    });
    const exited = once(child, "exit");
    await once(child, "spawn").catch((cause: unknown) => {
      const problem = `${python} did not run`;
      throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
    });
    const sessionId = randomBytes(8).toString("hex");
    const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<void>();
    const ended = Promise.race([exited, givenUp]).then(() => {
      this.#open.delete(sessionId);
      return "";
    });
    const session = new AgentSession({
      sessionId,
      channel: {
        input: child.stdin,
        output: child.stdout,
        ended,
        kill: async () => {
          await endProcess(child, exited);
          giveUp();
        },
      },
      scratchPaths: [],
      settingsFor: (limits) => ({
        folder: spec.workspaceDir,
        env: { ...environment, HOME: spec.workspaceDir },
        limits: callLimits(limits, isCounted),
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
