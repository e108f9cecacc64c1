import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { sweepSessions } from "./sweep-sessions.ts";

const log = createLogger("test", "silent");
const busy = new Failure("unavailable", ErrorReason.UNAVAILABLE, "device or resource busy");

test("a sandbox that cannot be destroyed does not hold up the others", async () => {
  const left = new Set(["stuck", "other"]);
  const end = new AbortController();
  const driver = {
    list: () => Promise.resolve([...left, "own"].map(recordOf)),
    destroy: (sessionId: string) => {
      if (sessionId === "stuck") return Promise.reject(busy);
      left.delete(sessionId);
      return Promise.resolve(end.abort());
    },
  };
  await sweepSessions(driver, 60_000, log, end.signal);
  expect([...left]).toEqual(["stuck"]);
});

test("a failed list or destroy is retried after the interval", async () => {
  const tried: string[] = [];
  const end = new AbortController();
  const driver = {
    list: () => {
      tried.push("list");
      return tried.length === 1 ? Promise.reject(busy) : Promise.resolve([recordOf("stuck")]);
    },
    destroy: () => {
      tried.push("destroy");
      if (tried.length > 4) end.abort();
      return Promise.reject(busy);
    },
  };
  await sweepSessions(driver, 1, log, end.signal);
  expect(tried).toEqual(["list", "list", "destroy", "list", "destroy"]);
});

function recordOf(sessionId: string) {
  return { sessionId, isOrphan: sessionId !== "own" };
}
