import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import {
  ToolhostCallState,
  ToolhostProbeReplySchema,
  ToolhostProbeSchema,
} from "@reeve/contracts/toolhost";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { sendRequest } from "@reeve/platform/nats/send-request";
import type { CallKey } from "../log/call-journal.ts";

/** How long a host may take to answer. A host that takes longer counts as alive and busy. */
const timeoutMs = 500;

const { subject } = channelOf(ToolhostProbeSchema);

/**
 * What a probe found: the host answered, and does or does not execute the call that it was asked for; the server knows of no
 * listener; or no answer came.
 */
export type ProbeOutcome = "running" | "absent" | "answered" | "no_listener" | "no_answer";

/** Answers probes of `host` until it is disposed. `executes` tells whether it executes a call, or has a result to record. */
export function answerProbes(
  connection: NatsConnection,
  host: string,
  executes: (call: CallKey) => boolean,
): Disposable {
  const callback = (error: Error | null, message: Msg) => {
    if (error === null) message.respond(replyTo(message.data, executes));
  };
  const subscription = connection.subscribe(subject({ host }), { callback });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

function replyTo(data: Uint8Array, executes: (call: CallKey) => boolean): Uint8Array {
  const { tenant, runId: run, callId: call } = fromBinary(ToolhostProbeSchema, data);
  const state = executes({ tenant, run, call })
    ? ToolhostCallState.RUNNING
    : ToolhostCallState.ABSENT;
  const reply = create(ToolhostProbeReplySchema, call === "" ? {} : { call: state });
  return toBinary(ToolhostProbeReplySchema, reply);
}

/** Asks a host whether it executes a call. */
export async function probeHost(
  connection: NatsConnection,
  host: string,
  { tenant, run: runId, call: callId }: CallKey,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const probe = create(ToolhostProbeSchema, { tenant, runId, callId });
  const data = toBinary(ToolhostProbeSchema, probe);
  const outcome = await sendRequest(connection, subject({ host }), { data, timeoutMs }, signal);
  if (outcome.kind !== "reply") {
    return outcome.kind === "no_responders" ? "no_listener" : "no_answer";
  }
  switch (fromBinary(ToolhostProbeReplySchema, outcome.data).call) {
    case ToolhostCallState.RUNNING:
      return "running";
    case ToolhostCallState.ABSENT:
      return "absent";
    case ToolhostCallState.UNSPECIFIED:
      return "answered";
    default:
      // A newer host says more than this version knows.
      return "answered";
  }
}

const noCall: CallKey = { tenant: "", run: "", call: "" };

/**
 * Returns whether `host` still listens for probes. Returns false only when the server knows of no listener. A timeout counts as
 * listening.
 */
export async function isListening(connection: NatsConnection, host: string): Promise<boolean> {
  return (await probeHost(connection, host, noCall, neverAborts)) !== "no_listener";
}
