import { createLogger } from "@reeve/platform/telemetry/logger";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import type { JWK } from "jose";
import { exportJWK, generateKeyPair } from "jose";
import { expect, test, vi } from "vitest";
import { isCrowded, maxWaiting, maxWaitingOfNetwork, ProviderKeys } from "./provider-keys.ts";

const { publicKey } = await generateKeyPair("ES256");
const exported = await exportJWK(publicKey);

function keyNamed(kid: string): JWK {
  return { ...exported, kid, alg: "ES256" };
}

/** A provider whose keys a test changes, or which does not answer if it has none. */
function opened() {
  const stop = new AbortController();
  const log = createLogger("test", "silent");
  const provider = { published: [keyNamed("one")] as JWK[] | undefined, reads: 0, errors: 0 };
  log.error = () => void provider.errors++;
  const clock = new ManualClock();
  const read = () => {
    provider.reads++;
    return provider.published === undefined
      ? Promise.reject(new Error("connect ECONNREFUSED 10.0.0.1:443"))
      : Promise.resolve({ keys: provider.published });
  };
  const keys = new ProviderKeys({ issuer: "https://idp", read, clock, log }, stop.signal);
  const find = (kid: string, network = "192.0.2.1") =>
    keys.find({ alg: "ES256", kid }, { payload: "", signature: "" }, network).then(
      () => "found",
      (error: unknown) => error,
    );
  return { provider, clock, keys, find, stop };
}

test("a key that the provider adds is found, and one that it removes is not", async () => {
  const { provider, clock, keys, find } = opened();
  expect(await find("one")).toBe("found");
  provider.published = [keyNamed("two")];
  const found = find("two");
  await clock.advance(5_000);
  expect(await found).toBe("found");
  expect([keys.has("one"), keys.has("two"), keys.has(undefined)]).toEqual([false, true, false]);
});

test("unknown keys make all callers wait for one read, at most every five seconds", async () => {
  const { provider, clock, find } = opened();
  await find("one");
  const all = Promise.all(Array.from({ length: 100 }, (_, index) => find(`x${index}`)));
  await clock.advance(4_999);
  expect(provider.reads).toBe(1);
  await clock.advance(1);
  for (const error of await all) expect(error).toMatchObject({ code: "ERR_JWKS_NO_MATCHING_KEY" });
  expect(provider.reads).toBe(2);
});

test("no more than a bounded number of callers waits, and known keys need no wait", async () => {
  const { clock, find } = opened();
  await find("one");
  const waiting = Array.from({ length: maxWaiting }, (_, at) => find(`x${at}`, `n${at % 10}`));
  expect(await find("one more", "another network")).toMatchObject({ kind: "unavailable" });
  expect(await find("one")).toBe("found");
  await clock.advance(5_000);
  await Promise.all(waiting);
  const later = find("later");
  await clock.advance(5_000);
  expect(await later).toMatchObject({ code: "ERR_JWKS_NO_MATCHING_KEY" });
});

test("one network has a part of the places, and others find theirs", async () => {
  const { provider, clock, find } = opened();
  await find("one");
  const flood = Array.from({ length: maxWaitingOfNetwork }, (_, at) => find(`x${at}`, "flood"));
  const refused = await find("one more", "flood");
  expect(refused).toMatchObject({ kind: "unavailable" });
  expect(isCrowded(refused)).toBe(true);
  provider.published = [keyNamed("two")];
  const found = find("two", "office");
  await clock.advance(5_000);
  expect(await found).toBe("found");
  await Promise.all(flood);
  expect(await find("two", "flood")).toBe("found");
});

test("while the provider does not answer, known keys stay valid and other tokens can be retried", async () => {
  const { provider, clock, find } = opened();
  await find("one");
  provider.published = undefined;
  const unknown = find("two");
  await clock.advance(5_000);
  expect(await unknown).toMatchObject({
    kind: "unavailable",
    retryAfterMs: 5_000,
    message: expect.not.stringContaining("10.0.0.1") as string,
  });
  // Nobody waits for the next attempt.
  expect(await find("two")).toMatchObject({ kind: "unavailable" });
  expect(await find("one")).toBe("found");
  expect(provider).toMatchObject({ reads: 2, errors: 1 });
  provider.published = [keyNamed("two")];
  await clock.advance(5_000);
  expect(await find("two")).toBe("found");
});

test("the keys are read every five minutes, and an outage is logged once", async () => {
  const { provider, clock, keys, stop } = opened();
  provider.published = undefined;
  const kept = keys.keep().catch(() => "ended");
  for (const passed of [0, 300_000, 300_000]) await clock.advance(passed);
  expect(provider).toMatchObject({ reads: 3, errors: 1 });
  expect(keys.has("one")).toBe(false);
  provider.published = [keyNamed("one")];
  await clock.advance(300_000);
  // The thumbprints of the keys are computed on another thread.
  await vi.waitFor(() => expect(keys.has("one")).toBe(true), { timeout: 10_000 });
  stop.abort();
  expect(await kept).toBe("ended");
});
