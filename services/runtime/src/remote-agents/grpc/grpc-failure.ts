import { A2AError } from "@a2a-js/sdk/errors";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { RetryInfoSchema } from "@reeve/contracts/error-details";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { Failure } from "@reeve/platform/failure";
import { causesOf } from "../remote-failure.ts";

/** A message of the agent that is larger than this runtime reads. */
export class TooLargeMessage extends ModelFailure {
  constructor(origin: string) {
    const message = `the remote agent at ${origin} sent a message that is too large`;
    super("malformed", message, { retryable: false });
  }
}

/** Returns why a gRPC call gave no answer, as the other bindings report it. */
export function grpcFailure(error: unknown, origin: string): unknown {
  if (!(error instanceof ConnectError)) return error;
  const known = causesOf(error).find(
    (each) => each instanceof ModelFailure || each instanceof Failure,
  );
  if (known !== undefined) return known;
  const { code, rawMessage } = error;
  const says = `the remote agent at ${origin}: ${rawMessage.slice(0, 1_000)} (${Code[code]})`;
  const cause = { cause: error };
  switch (code) {
    case Code.Unauthenticated:
    case Code.PermissionDenied:
      return new ModelFailure("unauthenticated", says, cause);
    case Code.ResourceExhausted: {
      const [retry] = error.findDetails(RetryInfoSchema);
      const retryAfterMs = retry?.retryDelay && durationMs(retry.retryDelay);
      return new ModelFailure("rate_limited", says, { ...cause, retryAfterMs });
    }
    case Code.InvalidArgument:
    case Code.NotFound:
    case Code.AlreadyExists:
    case Code.FailedPrecondition:
    case Code.OutOfRange:
    case Code.Unimplemented:
      return new A2AError({ message: rawMessage, ...cause });
    case Code.Canceled:
    case Code.Unknown:
    case Code.DeadlineExceeded:
    case Code.Aborted:
    case Code.Internal:
    case Code.Unavailable:
    case Code.DataLoss:
      return new ModelFailure("unavailable", says, cause);
  }
}
