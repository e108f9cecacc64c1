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

/** Settings of a call that the agent applies. */
export interface CallSettings {
  /** Folder of the workspace, in which the command starts. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, readonly [soft: number, hard: number]>>;
  /** Socket of the proxy for the call. Default: no network. */
  readonly proxy?: string;
}

const endOf = z.object({
  code: z.number().optional(),
  signal: z.number().optional(),
  too_long: z.boolean().optional(),
  oom: z.boolean().optional(),
});
const settlementOf = z.object({ clean: z.boolean() });

/** Runs one command in a sandbox, from its start until the sandbox has cleaned up after it. */
export class AgentCall {
  readonly #link: AgentLink;
  readonly #events: ExecEvents;
  readonly #input: CallInput;
  readonly #deadlines: CallDeadlines;
  readonly #command: SandboxCommand;
  readonly #began = performance.now();
  readonly #killsBefore: number;
  readonly #settled = Promise.withResolvers<boolean>();
  #hasStarted = false;
  #isOver = false;
  #outputBytes = 0;
  #stopped: EndReason | undefined;

  constructor(link: AgentLink, command: SandboxCommand, terms: CallSettings) {
    this.#link = link;
    this.#command = command;
    this.#events = new ExecEvents(link);
    this.#killsBefore = link.memoryKills();
    this.#input = new CallInput((kind, content) => link.send(kind, content));
    this.#deadlines = new CallDeadlines({
      onTimeout: () => this.stop("timeout"),
      onUnresponsive: () => void link.kill(),
    });
    link.listen({
      onFrame: (frame) => this.#onFrame(frame),
      onGone: (complaint) => this.#onGone(complaint),
    });
    const { argv, program } = command;
    const call = { ...terms, argv, program, env: { ...terms.env, ...command.env } };
    link.send(toAgent.call, Buffer.from(JSON.stringify(call)));
  }

  /** Yields the events of the command, up to its end. */
  events(): AsyncIterable<ExecEvent> {
    return this.#events.read();
  }

  /** Resolves when the sandbox has cleaned up, with whether nothing of this command is left. */
  get settled(): Promise<boolean> {
    return this.#settled.promise;
  }

  /** Ends the command if it still runs. If the agent does not end it in time, ends the whole sandbox. */
  stop(reason: EndReason): void {
    if (this.#isOver) return;
    this.#stopped ??= reason;
    if (!this.#hasStarted) return void this.#link.kill();
    this.#link.send(toAgent.stop);
    this.#deadlines.stopRequested();
  }

  #onFrame({ kind, content }: Frame): void {
    this.#deadlines.messageReceived();
    switch (kind) {
      case fromAgent.started:
        return this.#onStarted();
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
        return this.#onEnd(endOf.parse(JSON.parse(content.toString())));
      case fromAgent.settled:
        this.#deadlines[Symbol.dispose]();
        this.#link.stopListening();
        return this.#settled.resolve(settlementOf.parse(JSON.parse(content.toString())).clean);
    }
  }

  #onStarted(): void {
    this.#hasStarted = true;
    this.#deadlines.commandStarted(this.#command.limits.timeoutMs);
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

  #onEnd({ code, signal, too_long: isTooLong = false, oom = false }: z.infer<typeof endOf>): void {
    if (isTooLong) return this.#fail(tooLong());
    const own = oom ? "oom" : signal === undefined ? "exit" : "signal";
    this.#finish(own, signal === undefined ? code : signalBase + signal);
  }

  #onGone(complaint: string): void {
    this.#deadlines[Symbol.dispose]();
    this.#settled.resolve(false);
    if (this.#hasStarted || this.#stopped !== undefined)
      return this.#finish("sandbox_lost", undefined);
    const problem = `the sandbox did not start: ${complaint || "it ended at once"}`;
    this.#fail(new SandboxGone(problem));
  }

  #finish(own: EndReason, code: number | undefined): void {
    if (this.#isOver) return;
    const isOutOfMemory = this.#link.memoryKills() > this.#killsBefore;
    const reason = this.#stopped ?? (isOutOfMemory ? "oom" : own);
    // The exit code of a command that we ended only reports our own signal.
    const ownCode = this.#stopped === undefined ? code : undefined;
    const durationMs = performance.now() - this.#began;
    this.#close();
    this.#events.push({ kind: "end", reason, code: ownCode, durationMs });
  }

  #fail(error: Failure): void {
    if (this.#isOver) return;
    this.#close();
    this.#events.push({ kind: "failed", error });
  }

  #close(): void {
    this.#isOver = true;
    this.#input[Symbol.dispose]();
  }
}

function tooLong(): Failure {
  const problem = "the command is too long; put long arguments into a file of the workspace";
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
}
