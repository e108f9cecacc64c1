import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import { connectErrorOf, failureFrom } from "./connect-failure.ts";
import { Failure } from "./failure.ts";

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
