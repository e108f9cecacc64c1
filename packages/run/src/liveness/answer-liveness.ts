import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { RunLivenessQuestionSchema, RunLivenessReplySchema } from "@reeve/contracts/toolhost";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { replyToRequests } from "@reeve/platform/nats/reply-to-requests";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Liveness } from "./liveness.ts";

/** Answers whether runs are open, until it is disposed. Each question gets the reply of one of the services that answer. */
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
        : { run: await liveness.ofRun(tenant, asked.value ?? "", signal) };
    return toBinary(RunLivenessReplySchema, create(RunLivenessReplySchema, reply));
  });
}
