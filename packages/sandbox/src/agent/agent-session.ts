import { ErrorReason } from "@reeve/contracts/error";
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

/** An agent without a word from its toolhost for that long ends itself, and its sandbox with it. */
const abandonedS = 900;

/** What the code of agents imports most, and our own programs need. */
const imports = [
  "json ast linecache traceback stat fnmatch re math datetime collections itertools functools",
  "typing dataclasses pathlib csv random statistics",
].flatMap((names) => names.split(" "));

export interface AgentSessionOptions {
  readonly sessionId: string;
  readonly channel: AgentChannel;
  /** Folders and files, beside the workspace, that commands can write to. They are emptied after each. */
  readonly scratchPaths: readonly string[];
  /** Whether the socket of a proxy is mounted, by which commands with a network reach it. */
  readonly hasProxy?: boolean;
  settingsFor(limits: SandboxLimits): CallSettings;
  /** Resolves with true once the workspace holds more than it may, and with false when `signal` aborts. */
  watchDiskLimit?(limits: SandboxLimits, signal: AbortSignal): Promise<boolean>;
}

/** A sandbox in which our agent is the first process. */
export class AgentSession implements SandboxSession {
  readonly sessionId: string;
  readonly #link: AgentLink;
  readonly #options: AgentSessionOptions;
  #settled: Promise<boolean> = Promise.resolve(true);
  #isBusy = false;

  constructor(options: AgentSessionOptions) {
    this.sessionId = options.sessionId;
    this.#options = options;
    this.#link = new AgentLink(options.channel);
    const welcome = { programs, imports, folders: options.scratchPaths, idle_s: abandonedS };
    this.#link.send(toAgent.programs, Buffer.from(JSON.stringify(welcome)));
  }

  async *exec(command: SandboxCommand, signal: AbortSignal): AsyncIterable<ExecEvent> {
    signal.throwIfAborted();
    if (this.#isBusy) throw busy(this.sessionId);
    this.#isBusy = true;
    try {
      if (!(await this.#settled)) throw new SandboxGone(`the sandbox ${this.sessionId} is used up`);
      if (signal.aborted) {
        yield { kind: "start" };
        yield { kind: "end", reason: "cancelled", code: undefined, durationMs: 0 };
      } else yield* this.#run(command, signal);
    } finally {
      this.#isBusy = false;
    }
  }

  async settled(): Promise<boolean> {
    return (await this.#settled) && !this.#link.isGone;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#link.kill();
  }

  async *#run(command: SandboxCommand, signal: AbortSignal): AsyncIterable<ExecEvent> {
    const { limits, readOnly = false } = command;
    const call = new AgentCall(this.#link, command, this.#termsOf(command));
    this.#settled = call.settled;
    const cancel = () => call.stop("cancelled");
    signal.addEventListener("abort", cancel, { once: true });
    const over = new AbortController();
    if (!readOnly) void this.#measure(call, limits, over.signal);
    try {
      yield* call.events();
    } finally {
      over.abort();
      signal.removeEventListener("abort", cancel);
      // For a reader who has gone away before the end.
      cancel();
    }
  }

  #termsOf({ limits, network }: SandboxCommand): CallSettings {
    const terms = this.#options.settingsFor(limits);
    if (network === undefined || this.#options.hasProxy !== true) return terms;
    return { ...terms, env: { ...terms.env, ...proxyEnvironment }, proxy: proxySocket };
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
  const problem = `the sandbox ${sessionId} runs another command`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
