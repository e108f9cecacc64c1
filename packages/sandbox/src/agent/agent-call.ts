import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { EndReason, ExecEvent, OutputStream, SandboxCommand } from "../port.ts";
import type { AgentLink } from "./agent-link.ts";
import { CallInput } from "./call-input.ts";
import { ExecEvents } from "./exec-events.ts";
import type { Frame } from "./frames.ts";
import { fromAgent, toAgent } from "./frames.ts";
import { CallDeadlines } from "./call-deadlines.ts";
import { SandboxGone } from "./sandbox-gone.ts";

const signalBase = 128;

/** What an agent is told of a call. */
export interface CallSettings {
  /** Where the workspace lies, in which it begins. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, readonly [soft: number, hard: number]>>;
  /** Socket of the proxy to which the call's way out leads. Absent: there is none. */
  readonly proxy?: string;
}

const endOf = z.object({
  code: z.number().optional(),
  signal: z.number().optional(),
  too_long: z.boolean().optional(),
  oom: z.boolean().optional(),
});
const settlementOf = z.object({ clean: z.boolean() });

/** One command in a sandbox, from its start until the sandbox is at rest again. */
export class AgentCall {
  readonly #link: AgentLink;
  readonly #events: ExecEvents;
  readonly #input: CallInput;
  readonly #patience: CallDeadlines;
  readonly #command: SandboxCommand;
  readonly #began = performance.now();
  readonly #killsBefore: number;
  readonly #settled = Promise.withResolvers<boolean>();
  #hasBegun = false;
  #isOver = false;
  #outputBytes = 0;
  #stopped: EndReason | undefined;

  constructor(link: AgentLink, command: SandboxCommand, terms: CallSettings) {
    this.#link = link;
    this.#command = command;
    this.#events = new ExecEvents(link);
    this.#killsBefore = link.memoryKills();
    this.#input = new CallInput((kind, content) => link.send(kind, content));
    this.#patience = new CallDeadlines({
      onTimeout: () => this.stop("timeout"),
      onUnresponsive: () => void link.kill(),
    });
    link.listen({
      onFrame: (frame) => this.#hear(frame),
      onGone: (complaint) => this.#gone(complaint),
    });
    const { argv, program } = command;
    const call = { ...terms, argv, program, env: { ...terms.env, ...command.env } };
    link.send(toAgent.call, Buffer.from(JSON.stringify(call)));
  }

  /** What happens, up to the end. */
  events(): AsyncIterable<ExecEvent> {
    return this.#events.read();
  }

  /** Resolves when the sandbox is at rest: whether nothing is left of this command. */
  get settled(): Promise<boolean> {
    return this.#settled.promise;
  }

  /** Ends the command, unless it has ended. Should the agent not do so in time, the sandbox is ended as a whole. */
  stop(reason: EndReason): void {
    if (this.#isOver) return;
    this.#stopped ??= reason;
    if (!this.#hasBegun) return void this.#link.kill();
    this.#link.send(toAgent.stop);
    this.#patience.stopping();
  }

  #hear({ kind, content }: Frame): void {
    this.#patience.heard();
    switch (kind) {
      case fromAgent.started:
        return this.#begun();
      case fromAgent.stdout:
        return this.#out("stdout", content);
      case fromAgent.stderr:
        return this.#out("stderr", content);
      case fromAgent.result:
        return this.#out("result", content);
      case fromAgent.consumed:
        return this.#input.consumed(content.readUInt32BE(0));
      case fromAgent.alive:
        return this.#events.push({ kind: "keepalive" });
      case fromAgent.end:
        return this.#ended(endOf.parse(JSON.parse(content.toString())));
      case fromAgent.settled:
        this.#patience[Symbol.dispose]();
        this.#link.stopListening();
        return this.#settled.resolve(settlementOf.parse(JSON.parse(content.toString())).clean);
    }
  }

  #begun(): void {
    this.#hasBegun = true;
    this.#patience.begun(this.#command.limits.timeoutMs);
    this.#input.sendAll(this.#command.stdin).catch((error: unknown) => {
      this.#events.push({ kind: "failed", error });
      this.stop("sandbox_lost");
    });
  }

  #out(stream: OutputStream, bytes: Uint8Array): void {
    this.#outputBytes += bytes.length;
    if (this.#outputBytes > this.#command.limits.outputBytes) return this.stop("output_limit");
    this.#events.push({ kind: "out", stream, bytes });
  }

  #ended({ code, signal, too_long: isTooLong = false, oom = false }: z.infer<typeof endOf>): void {
    if (isTooLong) return this.#fail(tooLong());
    const own = oom ? "oom" : signal === undefined ? "exit" : "signal";
    this.#finish(own, signal === undefined ? code : signalBase + signal);
  }

  #gone(complaint: string): void {
    this.#patience[Symbol.dispose]();
    this.#settled.resolve(false);
    if (this.#hasBegun || this.#stopped !== undefined)
      return this.#finish("sandbox_lost", undefined);
    const problem = `the sandbox could not be started: ${complaint || "it ended at once"}`;
    this.#fail(new SandboxGone(problem));
  }

  #finish(own: EndReason, code: number | undefined): void {
    if (this.#isOver) return;
    const isOutOfMemory = this.#link.memoryKills() > this.#killsBefore;
    const reason = this.#stopped ?? (isOutOfMemory ? "oom" : own);
    // The signal by which we end a command says nothing of the command.
    const told = this.#stopped === undefined ? code : undefined;
    const durationMs = performance.now() - this.#began;
    this.#over();
    this.#events.push({ kind: "end", reason, code: told, durationMs });
  }

  #fail(error: Failure): void {
    if (this.#isOver) return;
    this.#over();
    this.#events.push({ kind: "failed", error });
  }

  #over(): void {
    this.#isOver = true;
    this.#input[Symbol.dispose]();
  }
}

function tooLong(): Failure {
  const problem =
    "the command is longer than a command may be; put what is long into a file of the workspace";
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
}
