import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import {
  RunExistence,
  RunExistenceQuestionSchema,
  RunExistenceReplySchema,
} from "@reeve/contracts/run-existence";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { Failure } from "@reeve/platform/failure";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { sendRequest } from "@reeve/platform/nats/send-request";

/** How long a gateway may take to answer. */
const timeoutMs = 2_000;

/** Says whether a run exists. Throws a Failure of kind `unavailable` when it is unknown. */
export type ConfirmedExistence = (key: RunKey, signal: AbortSignal) => Promise<boolean>;

export interface ExistenceOptions {
  /** How long a question is repeated while no gateway answers. 0: it is asked once, for two seconds at most. Default: 10 s. */
  readonly maxRetryMs?: number;
}

/** Returns what a gateway says, for a service that may not confirm itself that a run does not exist. */
export function askedExistence(
  { connection }: Pick<Nats, "connection">,
  { maxRetryMs = 10_000 }: ExistenceOptions = {},
): ConfirmedExistence {
  const subject = channelOf(RunExistenceQuestionSchema).subject({});
  return (key, signal) => {
    const question = create(RunExistenceQuestionSchema, { tenant: key.tenant, runId: key.run });
    const data = toBinary(RunExistenceQuestionSchema, question);
    const ask = async () => {
      const outcome = await sendRequest(connection, subject, { data, timeoutMs }, signal);
      if (outcome.kind !== "reply") throw unknown(key);
      const { existence } = fromBinary(RunExistenceReplySchema, outcome.data);
      if (existence === RunExistence.PRESENT) return true;
      if (existence === RunExistence.MISSING) return false;
      throw unknown(key);
    };
    return retryUnavailable(ask, { maxElapsedMs: maxRetryMs }, signal);
  };
}

function unknown({ run }: RunKey): Failure {
  const message = `no gateway says whether run ${run} exists; check that a gateway runs`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
