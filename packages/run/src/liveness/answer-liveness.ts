import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import {
  RunLiveness,
  RunLivenessQuestionSchema,
  RunLivenessReplySchema,
} from "@reeve/contracts/toolhost";
import { Failure } from "@reeve/platform/failure";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { replyToRequests } from "@reeve/platform/nats/reply-to-requests";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Liveness } from "./liveness.ts";

/**
 * Answers whether runs are open, until it is disposed. Each question gets the reply of one of the services that answer. The
 * reply states nothing while it is unknown whether the run exists.
 */
export function answerLiveness(
  { connection }: Pick<Nats, "connection">,
  liveness: Liveness,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Disposable {
  const subject = channelOf(RunLivenessQuestionSchema).subject({});
  return replyToRequests(connection, { subject, group: "liveness", log }, async (data) => {
    const { tenant, subject: asked } = fromBinary(RunLivenessQuestionSchema, data);
    const reply: MessageInitShape<typeof RunLivenessReplySchema> =
      asked.case === "threadId"
        ? { openTurns: [...(await liveness.openTurns(tenant, asked.value, signal))] }
        : { run: await statedOf(liveness, { tenant, run: asked.value ?? "" }, signal) };
    return toBinary(RunLivenessReplySchema, create(RunLivenessReplySchema, reply));
  });
}

/** An asker that gets no statement asks again at once, and perhaps another service. */
async function statedOf(
  liveness: Liveness,
  { tenant, run }: RunKey,
  signal: AbortSignal,
): Promise<RunLiveness> {
  try {
    return await liveness.ofRun(tenant, run, signal);
  } catch (error) {
    if (error instanceof Failure && error.kind === "unavailable") return RunLiveness.UNSPECIFIED;
    throw error;
  }
}
