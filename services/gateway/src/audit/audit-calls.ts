import type { Message } from "@bufbuild/protobuf";
import type {
  Interceptor,
  StreamRequest,
  StreamResponse,
  UnaryRequest,
  UnaryResponse,
} from "@connectrpc/connect";
import { Recording } from "@reeve/contracts/access/audit";
import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditPhase } from "@reeve/contracts/audit";
import type { Clock } from "@reeve/platform/async/clock";
import type { RelayEnd } from "@reeve/platform/async/relay";
import { relay } from "@reeve/platform/async/relay";
import { hasEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { callerOf } from "@reeve/platform/rpc/principal";
import type { EventDetails } from "./build-event.ts";
import { eventOf } from "./build-event.ts";
import type { CallOutcome } from "./call-outcome.ts";
import { outcomeOf, succeeded } from "./call-outcome.ts";
import type { AuditedPart } from "./call-parts.ts";
import { partsOf } from "./call-parts.ts";
import { choicesOf, resourcesOf } from "./call-resources.ts";
import { actionOf, auditOf, isChange } from "./method-audit.ts";
import type { AuditRecorder } from "@reeve/jetstream/audit/recorder";
import type { RepeatedChanges } from "./repeated-changes.ts";
import type { RepeatedRefusals } from "./repeated-refusals.ts";

type Request = UnaryRequest | StreamRequest;
type Response = UnaryResponse | StreamResponse;

/**
 * Records the calls of authenticated callers, as the contracts declare it. Refuses changes while the trail is required and cannot
 * be written. Calls that exceed a quota or other limit go to `refused`: a caller can repeat them as fast as the network permits.
 */
export function auditCalls(dependencies: Dependencies): Interceptor {
  const { recorder } = dependencies;
  return (next) => async (request) => {
    const { recording } = auditOf(request.method);
    const isRecorded = recording === Recording.READ || recording === Recording.CHANGE;
    if (!isRecorded || callerOf(request.contextValues) === undefined) return await next(request);
    if (isChange(request.method)) recorder.assertAvailable();
    return await new AuditedRequest(request, dependencies).send(next);
  };
}

export interface Dependencies {
  readonly recorder: AuditRecorder;
  readonly changes: RepeatedChanges;
  readonly refused: RepeatedRefusals;
  readonly clock: Pick<Clock, "now">;
}

/** One call, from its start to its last message. */
class AuditedRequest {
  readonly #request: Request;
  readonly #recorder: AuditRecorder;
  readonly #changes: RepeatedChanges;
  readonly #refused: RepeatedRefusals;
  readonly #clock: Pick<Clock, "now">;
  readonly #startedAtMs: number;
  #sent: Message | undefined;

  constructor(request: Request, { recorder, changes, refused, clock }: Dependencies) {
    this.#request = request;
    this.#recorder = recorder;
    this.#changes = changes;
    this.#refused = refused;
    this.#clock = clock;
    this.#startedAtMs = clock.now();
    if (!request.stream) this.#sent = request.message;
  }

  async send(next: (request: Request) => Promise<Response>): Promise<Response> {
    const request = this.#request;
    let response: Response;
    try {
      response = await next(
        request.stream ? { ...request, message: this.#sniffed(request.message) } : request,
      );
    } catch (error) {
      await this.#record(outcomeOf(error, request.signal), {});
      throw error;
    }
    if (response.stream) return { ...response, message: this.#recorded(response.message) };
    await this.#record(succeeded, { response: response.message });
    return response;
  }

  /** Remembers the first message of the request: that of a server stream is its only one. */
  async *#sniffed(messages: AsyncIterable<Message>): AsyncIterable<Message> {
    for await (const message of messages) {
      if (this.#request.method.methodKind === "server_streaming") this.#sent ??= message;
      yield message;
    }
  }

  #recorded(messages: AsyncIterable<Message>): AsyncIterable<Message> {
    let hasBegun = false;
    const onItem = () => {
      if (!hasBegun) this.#note(succeeded, AuditPhase.BEGIN);
      hasBegun = true;
    };
    return relay(messages, {
      onItem,
      onEnd: (end) => this.#note(this.#outcomeOf(end), AuditPhase.END),
    });
  }

  #outcomeOf(end: RelayEnd): CallOutcome {
    switch (end.kind) {
      case "ended":
        return succeeded;
      case "failed":
        return outcomeOf(end.error, this.#request.signal);
      case "left":
        return { code: "CANCELLED", reason: "" };
    }
  }

  async #record(
    outcome: CallOutcome,
    { response }: { readonly response?: Message },
  ): Promise<void> {
    const parts = partsOf(this.#request.method, { request: this.#sent, response }, outcome);
    await Promise.all(parts.map((part) => this.#recordPart(part, response)));
  }

  async #recordPart({ outcome, resources }: AuditedPart, response?: Message): Promise<void> {
    const event = this.#event(outcome, { resources }, response);
    if (outcome.code === "RESOURCE_EXHAUSTED") {
      const { tenant, subject, method, reason } = event;
      const kind = [tenant, subject, method, reason].join(" ");
      return this.#refused.add(kind, event, this.#clock.now());
    }
    if (!isChange(this.#request.method)) return this.#recorder.note(event);
    const isDeletion = response !== undefined && "existed" in response && response.existed === true;
    const isEffective = isDeletion || hasEffect(this.#request.contextValues);
    await this.#changes.record(event, { isEffective });
  }

  #note(outcome: CallOutcome, phase: AuditPhase): void {
    this.#recorder.note(this.#event(outcome, { phase }));
  }

  #event(
    outcome: CallOutcome,
    details: Pick<EventDetails, "phase" | "resources">,
    response?: Message,
  ): AuditEvent {
    const { method, header, contextValues: values } = this.#request;
    const sent = { request: this.#sent, response };
    const times = { nowMs: this.#clock.now(), startedAtMs: this.#startedAtMs };
    return eventOf({ method, header, values }, outcome, times, {
      action: actionOf(method),
      choices: choicesOf(method, sent),
      ...details,
      resources: details.resources ?? resourcesOf(method, sent),
    });
  }
}
