import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunLivenessReply } from "@reeve/contracts/toolhost";
import {
  RunLiveness,
  RunLivenessQuestionSchema,
  RunLivenessReplySchema,
} from "@reeve/contracts/toolhost";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { Failure } from "@reeve/platform/failure";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { sendRequest } from "@reeve/platform/nats/send-request";
import type { Liveness } from "./liveness.ts";

/** How long a service may take to answer. */
const timeoutMs = 4_000;
/** How long a question is repeated while nobody answers: services may restart, or connect again. */
const maxRetryMs = 10_000;

/**
 * Returns what a gateway or a runtime says, for a service that may not read the logs. Its methods throw a Failure of kind
 * `unavailable` when none answers for about ten seconds.
 */
export function askedLiveness(nats: Pick<Nats, "connection">): Liveness {
  const ask = (
    question: MessageInitShape<typeof RunLivenessQuestionSchema>,
    signal: AbortSignal,
  ): Promise<RunLivenessReply> => {
    const data = toBinary(RunLivenessQuestionSchema, create(RunLivenessQuestionSchema, question));
    const attempt = async () => {
      const reply = await askOnce(nats.connection, data, signal);
      if (question.subject?.case === "runId") assertStated(reply, question.subject.value ?? "");
      return reply;
    };
    return retryUnavailable(attempt, { maxElapsedMs: maxRetryMs }, signal);
  };
  return {
    async ofRun(tenant, run, signal) {
      const reply = await ask({ tenant, subject: { case: "runId", value: run } }, signal);
      return reply.run;
    },
    async openTurns(tenant, thread, signal) {
      const reply = await ask({ tenant, subject: { case: "threadId", value: thread } }, signal);
      return reply.openTurns;
    },
  };
}

async function askOnce(
  connection: Nats["connection"],
  data: Uint8Array,
  signal: AbortSignal,
): Promise<RunLivenessReply> {
  const subject = channelOf(RunLivenessQuestionSchema).subject({});
  const outcome = await sendRequest(connection, subject, { data, timeoutMs }, signal);
  if (outcome.kind === "reply") return fromBinary(RunLivenessReplySchema, outcome.data);
  throw unavailable(
    "no gateway and no runtime answers whether the run is open; check that one of them runs",
  );
}

/** A service states nothing that is not confirmed. The next question may find one that can. */
function assertStated({ run }: RunLivenessReply, runId: string): void {
  if (run !== RunLiveness.UNSPECIFIED) return;
  throw unavailable(`no gateway says whether run ${runId} exists; check that a gateway runs`);
}

function unavailable(message: string): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
