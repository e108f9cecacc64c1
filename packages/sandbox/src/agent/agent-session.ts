import { ErrorReason } from "@reeve/contracts/error";
import { onAbort } from "@reeve/platform/async/on-abort";
import { Failure } from "@reeve/platform/failure";
import type { ExecEvent, SandboxCommand, SandboxLimits, SandboxSession } from "../port.ts";
import { programs } from "../programs/programs.ts";
import type { CallSettings } from "./agent-call.ts";
import { AgentCall } from "./agent-call.ts";
import type { AgentChannel } from "./agent-channel.ts";
import { AgentLink } from "./agent-link.ts";
import { toAgent } from "./frames.ts";
import { proxyEnvironment, proxySocket } from "./proxy-environment.ts";
import { SandboxGone } from "./sandbox-gone.ts";

/** An agent that hears nothing from its toolhost for this long ends itself and its sandbox. */
const abandonedS = 900;

/** Modules that the agent preloads: those that code imports most often, and those of our own programs. */
const imports = [
  "json ast linecache traceback stat fnmatch re math datetime collections itertools functools",
  "typing dataclasses pathlib csv random statistics",
].flatMap((names) => names.split(" "));

export interface AgentSessionOptions {
  readonly sessionId: string;
  readonly channel: AgentChannel;
  /** Folders and files besides the workspace that commands can write. They are emptied after each command. */
  readonly scratchPaths: readonly string[];
  /** Whether the socket of a proxy is mounted, for commands with network access. */
  readonly hasProxy?: boolean;
  /** As that of the session. */
  readonly skillsMountPoint?: string | undefined;
  /** Returns the settings of a call with these limits. */
  settingsFor(limits: SandboxLimits): CallSettings;
  /** Resolves with true once the workspace exceeds its limits, and with false when `signal` aborts. */
  watchDiskLimit?(limits: SandboxLimits, signal: AbortSignal): Promise<boolean>;
}

/** A sandbox whose first process is our agent. */
export class AgentSession implements SandboxSession {
  readonly sessionId: string;
  readonly skillsMountPoint?: string;
  readonly #link: AgentLink;
  readonly #options: AgentSessionOptions;
  #settled: Promise<boolean> = Promise.resolve(true);
  #isBusy = false;

  constructor(options: AgentSessionOptions) {
    this.sessionId = options.sessionId;
    if (options.skillsMountPoint !== undefined) this.skillsMountPoint = options.skillsMountPoint;
    this.#options = options;
    this.#link = new AgentLink(options.channel);
    const welcome = { programs, imports, folders: options.scratchPaths, idle_s: abandonedS };
    this.#link.send(toAgent.programs, Buffer.from(JSON.stringify(welcome)));
  }

  async *exec(command: SandboxCommand, signal: AbortSignal): AsyncIterable<ExecEvent> {
    signal.throwIfAborted();
    this.#assertUsesCredentials(command);
    if (this.#isBusy) throw busy(this.sessionId);
    this.#isBusy = true;
    try {
      if (!(await this.#settled)) throw new SandboxGone(`the sandbox ${this.sessionId} has ended`);
      if (signal.aborted) {
        yield { kind: "start" };
        yield { kind: "end", reason: "cancelled", code: undefined, durationMs: 0 };
      } else yield* this.#run(command, signal);
    } finally {
      this.#isBusy = false;
    }
  }

  async settled(): Promise<boolean> {
    return (await this.#link.hasStarted) && (await this.#settled) && !this.#link.isGone;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#link.kill();
  }

  /** Without a proxy, nothing adds a credential: a request would be sent without it, and without TLS. */
  #assertUsesCredentials({ network }: SandboxCommand): void {
    const { names = [] } = network?.credentials ?? {};
    if (names.length === 0 || this.#options.hasProxy === true) return;
    const problem = `this sandbox has no proxy, which the credential ${names.join(", ")} of the agent needs`;
    const remedy = "remove it from deep_agent.network.credentials, or use another driver";
    const message = `no network: ${problem}; ${remedy}`;
    throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
  }

  async *#run(command: SandboxCommand, signal: AbortSignal): AsyncIterable<ExecEvent> {
    const { limits, readOnly = false } = command;
    const call = new AgentCall(this.#link, command, this.#settingsFor(command));
    this.#settled = call.settled;
    using _ = onAbort(signal, () => call.stop("cancelled"));
    const end = new AbortController();
    if (!readOnly) void this.#measure(call, limits, end.signal);
    try {
      yield* call.events();
    } finally {
      end.abort();
      // The reader may have stopped before the end.
      call.stop("cancelled");
    }
  }

  #settingsFor({ limits, network }: SandboxCommand): CallSettings {
    const settings = this.#options.settingsFor(limits);
    if (network === undefined || this.#options.hasProxy !== true) return settings;
    return { ...settings, env: { ...settings.env, ...proxyEnvironment }, proxy: proxySocket };
  }

  async #measure(call: AgentCall, limits: SandboxLimits, signal: AbortSignal): Promise<void> {
    try {
      if (await this.#options.watchDiskLimit?.(limits, signal)) call.stop("disk_limit");
    } catch {
      call.stop("sandbox_lost");
    }
  }
}

function busy(sessionId: string): Failure {
  const problem = `the sandbox ${sessionId} already runs a command`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
