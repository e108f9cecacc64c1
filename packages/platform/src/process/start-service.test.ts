import { ErrorReason } from "@reeve/contracts/error";
import { errors } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { Failure } from "../failure.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startService } from "./start-service.ts";
import { storeUnavailable } from "../nats/store-unavailable.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;

test("a start without a store disposes of what it opened, and is retried", async () => {
  const seen: string[] = [];
  let attempts = 0;
  const start = async (resources: AsyncDisposableStack) => {
    const attempt = ++attempts;
    seen.push(`open ${attempt}`);
    resources.defer(() => void seen.push(`close ${attempt}`));
    if (attempt === 1) throw storeUnavailable();
    if (attempt === 2) throw new errors.TimeoutError();
  };
  await using resources = await startService(start, log, never);
  expect(seen).toEqual(["open 1", "close 1", "open 2", "close 2", "open 3"]);
  await resources.disposeAsync();
  expect(seen.at(-1)).toBe("close 3");
});

test("any other failure ends the start, and disposes of what it opened", async () => {
  const failure = new Failure(
    "precondition",
    ErrorReason.INTERNAL,
    "another version made the stream",
  );
  let isOpen = false;
  const start = async (resources: AsyncDisposableStack) => {
    isOpen = true;
    resources.defer(() => {
      isOpen = false;
    });
    throw failure;
  };
  await expect(startService(start, log, never)).rejects.toBe(failure);
  expect(isOpen).toBe(false);
});

test("an aborted start is not retried", async () => {
  const end = new AbortController();
  const start = async () => {
    end.abort(new Error("SIGTERM"));
    throw storeUnavailable();
  };
  await expect(startService(start, log, end.signal)).rejects.toThrow("SIGTERM");
});
