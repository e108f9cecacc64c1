import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import {
  RunExistence,
  RunExistenceQuestionSchema,
  RunExistenceReplySchema,
} from "@reeve/contracts/run-existence";
import type { RunTailReader } from "@reeve/jetstream/log/run-log";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { replyToRequests } from "@reeve/platform/nats/reply-to-requests";
import type { Logger } from "@reeve/platform/telemetry/logger";

/**
 * Answers whether runs exist, until it is disposed. `runs` says that a run does not exist only when the store has confirmed it.
 * A question gets no reply while the store does not answer.
 */
export function answerExistence(
  { connection }: Pick<Nats, "connection">,
  runs: RunTailReader,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Disposable {
  const subject = channelOf(RunExistenceQuestionSchema).subject({});
  return replyToRequests(connection, { subject, group: "existence", log }, async (data) => {
    const { tenant, runId: run } = fromBinary(RunExistenceQuestionSchema, data);
    const { tail } = await runs.last({ tenant, run }, signal);
    const existence = tail.sequence > 0 ? RunExistence.PRESENT : RunExistence.MISSING;
    return toBinary(RunExistenceReplySchema, create(RunExistenceReplySchema, { existence }));
  });
}
