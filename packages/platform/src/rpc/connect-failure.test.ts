import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import { connectErrorOf, failureFrom } from "./connect-failure.ts";
import { Failure } from "../failure.ts";

test.each([Code.Aborted, Code.Canceled, Code.DeadlineExceeded, Code.Unavailable])(
  "a status %i without details is retryable",
  (code) => {
    const { kind, reason } = failureFrom(new ConnectError("socket hang up", code));
    expect([kind, reason]).toEqual(["unavailable", ErrorReason.UNAVAILABLE]);
  },
);

test("a conflict with details of the server stays a conflict", () => {
  const conflict = new Failure(
    "conflict",
    ErrorReason.REVISION_CONFLICT,
    "another client was first",
  );
  const { kind, reason } = failureFrom(connectErrorOf(conflict));
  expect([kind, reason]).toEqual(["conflict", ErrorReason.REVISION_CONFLICT]);
});

test("a failure survives the conversion to a status and back", () => {
  const violations = [{ field: "spec.id", description: "is taken", reason: "TAKEN" }];
  const given = new Failure("unavailable", ErrorReason.DRAINING, "the server is shutting down", {
    violations,
    metadata: { run_id: "run_1", through_sequence: "7" },
    retryAfterMs: 250,
  });
  const { kind, reason, message, metadata, retryAfterMs, ...rest } = failureFrom(
    // As a client receives it: with encoded details.
    ConnectError.from(connectErrorOf(given)),
  );
  expect({ kind, reason, message, metadata, retryAfterMs }).toEqual({
    kind: "unavailable",
    reason: ErrorReason.DRAINING,
    message: "the server is shutting down",
    metadata: { run_id: "run_1", through_sequence: "7" },
    retryAfterMs: 250,
  });
  expect(rest.violations).toMatchObject(violations);
});

test.each(["ECONNRESET", "ERR_HTTP2_STREAM_ERROR", "ERR_HTTP2_GOAWAY_SESSION"])(
  "a broken connection is unavailable, whatever its status: %s",
  (code) => {
    const cause = Object.assign(new Error("Stream closed with error code 7"), { code });
    const made = new ConnectError("Stream closed", Code.Internal, undefined, undefined, cause);
    expect(failureFrom(made).kind).toBe("unavailable");
    expect(failureFrom(connectErrorOf(failureFrom(made))).kind).toBe("unavailable");
  },
);

test("an internal error of the server is not a lost connection", () => {
  const fault = new Failure("internal", ErrorReason.INTERNAL, "a fault");
  expect(failureFrom(connectErrorOf(fault)).kind).toBe("internal");
  expect(failureFrom(new ConnectError("a fault", Code.Internal)).kind).toBe("internal");
});
