import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "@reeve/contracts/error-details";

/** A request that failed, as a person reads it. */
export interface Problem {
  readonly title: string;
  readonly message: string;
  /** Constant of the API, such as RUN_NOT_FOUND. Empty if there is none. */
  readonly reason: string;
  readonly violations: readonly Violation[];
  /** What the person can do next. */
  readonly advice: string;
}

interface Violation {
  readonly field: string;
  readonly description: string;
}

/** Returns what failed, why, and what to do. */
export function problemOf(thrown: unknown): Problem {
  const error = ConnectError.from(thrown);
  const [info] = error.findDetails(ErrorInfoSchema);
  const violations = error
    .findDetails(BadRequestSchema)
    .flatMap(({ fieldViolations }) =>
      fieldViolations.map(({ field, description }) => ({ field, description })),
    );
  const role = info?.metadata["role"];
  const { title, advice } =
    error.code === Code.PermissionDenied && role !== undefined
      ? missingRole(role)
      : (advices.get(error.code) ?? { title: "The request failed", advice: "" });
  return { title, advice, message: error.rawMessage, reason: info?.reason ?? "", violations };
}

/** Whether the same request may succeed later. */
export function isTransient(thrown: unknown): boolean {
  const { code } = ConnectError.from(thrown);
  // Browsers report a lost connection without a status.
  return code === Code.Unavailable || code === Code.Unknown || code === Code.Aborted;
}

const unreachable = {
  title: "The server cannot be reached",
  advice: "Check that it runs. The page tries again by itself.",
};

function missingRole(role: string) {
  return {
    title: "Your roles do not permit this",
    advice: `Ask an operator for a credential with the role ${role}.`,
  };
}

const advices: ReadonlyMap<Code, { readonly title: string; readonly advice: string }> = new Map([
  [Code.NotFound, { title: "Not found", advice: "It may have been deleted. Check the address." }],
  [Code.PermissionDenied, { title: "You may not do this", advice: "" }],
  [Code.Unauthenticated, { title: "You are not signed in", advice: "Sign in again." }],
  [Code.Unavailable, unreachable],
  [Code.Unknown, unreachable],
  [Code.InvalidArgument, { title: "The request is not valid", advice: "" }],
  [Code.FailedPrecondition, { title: "Not possible now", advice: "" }],
  [
    Code.ResourceExhausted,
    { title: "A limit is reached", advice: "Try again later, or ask an operator to raise it." },
  ],
  [
    Code.Internal,
    { title: "The server failed", advice: "This is a bug; its log has the details." },
  ],
]);
