import { describe, expect, test } from "vitest";
import { burst, maxCredentials, maxNetworks, refillMs, SignInBudget } from "./sign-in-budget.ts";

function budget() {
  const clock = { ms: 0, now: () => clock.ms };
  return { clock, budget: new SignInBudget(clock) };
}

/** Checks a credential, and returns after how many milliseconds it may be checked. */
function wrong(known: SignInBudget, network: string, credential: string): number {
  const { delayMs, refuse } = known.begin(network, credential);
  if (delayMs === 0) refuse();
  return delayMs;
}

/** Returns after how many milliseconds a credential may be checked, without a check. */
function delayMs(known: SignInBudget, network: string, credential: string): number {
  const attempt = known.begin(network, credential);
  if (attempt.delayMs === 0) attempt.release();
  return attempt.delayMs;
}

/** Refuses so many different credentials of a network as are checked, at most `count`. Returns how many. */
function guess(known: SignInBudget, network: string, count: number, from = 0): number {
  let checked = 0;
  for (let each = from; each < from + count; each++) {
    if (wrong(known, network, `${network}-wrong-${each}`) === 0) checked++;
  }
  return checked;
}

describe("a network", () => {
  test("may send some wrong credentials, and then one at a time", () => {
    const { budget: known, clock } = budget();
    expect(guess(known, "192.0.2.1", 1_000)).toBe(burst);
    expect(delayMs(known, "192.0.2.1", "another")).toBe(refillMs);
    clock.ms += 5 * refillMs;
    expect(guess(known, "192.0.2.1", 1_000, 1_000)).toBe(5);
    clock.ms += 1_000 * refillMs;
    expect(guess(known, "192.0.2.1", 1_000, 2_000)).toBe(burst);
  });

  test("cannot exceed its budget with guesses at the same time", () => {
    const { budget: known } = budget();
    const attempts = Array.from({ length: 1_000 }, (_, each) =>
      known.begin("192.0.2.1", `wrong-${each}`),
    );
    const begun = attempts.filter((attempt) => attempt.delayMs === 0);
    expect(begun).toHaveLength(burst);
    begun[0]?.accept();
    begun[1]?.release();
    for (const attempt of begun.slice(2)) attempt.refuse();
    expect(guess(known, "192.0.2.1", 1_000, 1_000)).toBe(2);
  });

  test("does not limit another one", () => {
    const { budget: known } = budget();
    guess(known, "192.0.2.1", 1_000);
    expect(delayMs(known, "192.0.2.2", "right")).toBe(0);
  });

  test("still has its credentials checked that were accepted before, until one is refused", () => {
    const { budget: known } = budget();
    known.begin("192.0.2.1", "right").accept();
    guess(known, "192.0.2.1", 1_000);
    expect(delayMs(known, "192.0.2.1", "right")).toBe(0);
    expect(delayMs(known, "192.0.2.1", "new")).toBeGreaterThan(0);
    for (let time = 0; time < burst; time++) wrong(known, "192.0.2.1", "right");
    expect(delayMs(known, "192.0.2.1", "right")).toBeGreaterThan(0);
  });

  test("is not limited by a client that repeats one old credential, which is limited itself", () => {
    const { budget: known, clock } = budget();
    let checked = 0;
    for (let time = 0; time < 1_000; time++) {
      if (wrong(known, "192.0.2.1", "old") === 0) checked++;
    }
    expect(checked).toBe(burst);
    expect(delayMs(known, "192.0.2.1", "new")).toBe(0);
    clock.ms += refillMs;
    expect(delayMs(known, "192.0.2.1", "old")).toBe(0);
  });
});

test("millions of networks and credentials take bounded memory, and share one budget", () => {
  const { budget: known } = budget();
  for (let each = 0; each < maxNetworks + 5_000; each++) {
    known.begin(`network-${each}`, `right-${each}`).accept();
    guess(known, `network-${each}`, 1);
  }
  expect(known.size).toBeLessThanOrEqual(maxNetworks + 1 + 2 * maxCredentials);
  expect(delayMs(known, "network-new", "wrong")).toBeGreaterThan(0);
  expect(delayMs(known, "network-0", "wrong")).toBe(0);
});

test("networks with their whole budget make room for others", () => {
  const { budget: known, clock } = budget();
  for (let each = 0; each < maxNetworks; each++) guess(known, `network-${each}`, 1);
  clock.ms += refillMs;
  expect(guess(known, "network-new", 1_000)).toBe(burst);
  expect(delayMs(known, "network-newer", "wrong")).toBe(0);
});
