import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";

/** An error of JetStream as its reply carries it. */
export interface ApiError {
  readonly code: number;
  readonly err_code?: number;
  readonly description?: string;
}

/** `wrong last sequence`: another writer was first. Newer servers have a second code for it. */
const conflictCodes: ReadonlySet<number> = new Set([10071, 10164]);
/**
 * A cluster without a leader, or with too few servers that it knows of for the replicas of a stream, or in which all servers that
 * have a stream or a consumer are down. Not 10194 and 10195: those servers run, and do not support what it has.
 */
const incompleteClusterCodes: ReadonlySet<number> = new Set([10005, 10008, 10118, 10119]);
/** The server, an account, or a stream has no storage or memory left. */
const fullCodes: ReadonlySet<number> = new Set([10002, 10023, 10028, 10047, 10122]);
/** How a server answers a write for which it has no room. */
export const storeFull: ApiError = { code: 503, err_code: 10047 };
/** A stream at its limit answers with a general code (10077); only the description gives the reason. */
const fullDescription =
  /maximum (bytes|messages|memory|storage)|insufficient (resources|storage|memory)|no space left/i;
const tooLargeDescription = /max_payload|maximum payload|message size exceeds/i;
const notFoundCodes: ReadonlySet<number> = new Set([
  JetStreamApiCodes.ConsumerNotFound,
  JetStreamApiCodes.StreamNotFound,
]);

/** Returns whether a compare-and-write failed because another writer was first. */
export function isConflict(error: unknown): boolean {
  return conflictCodes.has(codeOf(error));
}

/** Returns whether an error says that a stream or a consumer does not exist. */
export function isNotFound(error: unknown): boolean {
  return notFoundCodes.has(codeOf(error));
}

/** Returns whether an error says that too few servers of a cluster run, or that they have not found each other yet. */
export function isClusterIncomplete(error: unknown): boolean {
  if (error instanceof Failure) return isClusterIncomplete(error.cause);
  return incompleteClusterCodes.has(codeOf(error));
}

/** Returns whether an error says that the server or the account has no room left, and not only one stream. */
export function isStoreFull(error: unknown): boolean {
  if (error instanceof Failure) return isStoreFull(error.cause);
  return fullCodes.has(codeOf(error));
}

/** Returns whether the server refused a request because its user has no permission for it. */
export function isForbidden(error: unknown): boolean {
  if (error instanceof errors.PermissionViolationError) return true;
  return error instanceof Error && error.cause !== undefined && isForbidden(error.cause);
}

/** Returns the Failure for a stream that this process needs and may not create or change. */
export function notProvisioned(stream: string, cause: unknown): Failure {
  const message = `stream ${stream} is missing or lacks settings of this version, and this user of NATS may not create it; run \`reeve provision\` of this version as the operator`;
  return new Failure("precondition", ErrorReason.INTERNAL, message, { cause });
}

/** Converts an error of the store, thrown by the client or sent in a reply, into what it means to the caller. */
export function storeFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const description = descriptionOf(error);
  const options = { cause: error };
  if (fullCodes.has(codeOf(error)) || fullDescription.test(description)) {
    return new Failure("exhausted", ErrorReason.STORAGE_FULL, storeIsFull(description), options);
  }
  if (tooLargeDescription.test(description)) {
    return new Failure(
      "exhausted",
      ErrorReason.TOO_LARGE,
      "the record is larger than the largest message that the store accepts; make it smaller",
      options,
    );
  }
  if (isApiError(error) || error instanceof JetStreamApiError) {
    const message = `the store rejected the request (${description}); try again in a few seconds`;
    return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, options);
  }
  return storeUnavailable(error);
}

/** Returns the message of a refusal for lack of room, with what makes room. */
export function storeIsFull(description: string): string {
  return `the store is full (${description}); delete runs that have ended (\`reeve delete RUN\`) or artifacts (\`reeve artifacts delete ARTIFACT\`), or give JetStream more room`;
}

function isApiError(error: unknown): error is ApiError {
  return (
    !(error instanceof Error) &&
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    typeof error.code === "number"
  );
}

/** Returns the code by which JetStream tells its errors apart, or 0. */
function codeOf(error: unknown): number {
  if (error instanceof JetStreamApiError) return error.code;
  return isApiError(error) ? (error.err_code ?? 0) : 0;
}

function descriptionOf(error: unknown): string {
  if (isApiError(error)) return error.description ?? `code ${error.code}`;
  return error instanceof Error ? error.message : String(error);
}
