import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import { connectErrorOf, failureFrom } from "./connect-failure.ts";
import { Failure } from "../failure.ts";

test.each([Code.Aborted, Code.Canceled, Code.DeadlineExceeded, Code.Unavailable])(
  "a connection that broke with code %i is asked again",
  (code) => {
    const { kind, reason } = failureFrom(new ConnectError("socket hang up", code));
    expect([kind, reason]).toEqual(["unavailable", ErrorReason.UNAVAILABLE]);
  },
);

test("a conflict that a server found stays one", () => {
  const conflict = new Failure(
    "conflict",
    ErrorReason.REVISION_CONFLICT,
    "somebody else was first",
  );
  const { kind, reason } = failureFrom(connectErrorOf(conflict));
  expect([kind, reason]).toEqual(["conflict", ErrorReason.REVISION_CONFLICT]);
});

test("a failure comes out of its status as it went in", () => {
  const violations = [{ field: "spec.id", description: "is taken", reason: "TAKEN" }];
  const given = new Failure("unavailable", ErrorReason.DRAINING, "the server is going away", {
    violations,
    metadata: { run_id: "run_1", through_sequence: "7" },
    retryAfterMs: 250,
  });
  const { kind, reason, message, metadata, retryAfterMs, ...rest } = failureFrom(
    // As a client has it: details as they come over the wire.
    ConnectError.from(connectErrorOf(given)),
  );
  expect({ kind, reason, message, metadata, retryAfterMs }).toEqual({
    kind: "unavailable",
    reason: ErrorReason.DRAINING,
    message: "the server is going away",
    metadata: { run_id: "run_1", through_sequence: "7" },
    retryAfterMs: 250,
  });
  expect(rest.violations).toMatchObject(violations);
});

test.each(["ECONNRESET", "ERR_HTTP2_STREAM_ERROR", "ERR_HTTP2_GOAWAY_SESSION"])(
  "a connection that broke is unavailable, whatever status was made of it: %s",
  (code) => {
    const cause = Object.assign(new Error("Stream closed with error code 7"), { code });
    const made = new ConnectError("Stream closed", Code.Internal, undefined, undefined, cause);
    expect(failureFrom(made).kind).toBe("unavailable");
    expect(failureFrom(connectErrorOf(failureFrom(made))).kind).toBe("unavailable");
  },
);

test("a fault of the server is none of the connection", () => {
  const fault = new Failure("internal", ErrorReason.INTERNAL, "a fault");
  expect(failureFrom(connectErrorOf(fault)).kind).toBe("internal");
  expect(failureFrom(new ConnectError("a fault", Code.Internal)).kind).toBe("internal");
});
