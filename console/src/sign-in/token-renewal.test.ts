import { expect, test } from "vitest";
import type { SignedIn } from "./oidc.ts";
import { TokenRenewal } from "./token-renewal.ts";

const tokens = (number: number): SignedIn => ({
  accessToken: `token ${number}`,
  refreshToken: `refresh ${number}`,
  expiresInMs: 300_000,
});

/** A session whose provider gives these answers, one after another, and whose time passes from timer to timer. */
function signedIn(...answers: readonly (SignedIn | Error)[]) {
  const asked: string[] = [];
  const timers: { callback: () => void; atMs: number }[] = [];
  const session = { token: "token 0", nowMs: 0 };
  const { renewed } = new TokenRenewal(
    {
      renew: (refreshToken) => {
        const answer = answers[asked.length] ?? new Error("lost");
        asked.push(`${refreshToken} at ${session.nowMs}`);
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      replace: (before, next) => {
        if (session.token !== before) return false;
        session.token = next;
        return true;
      },
      isFinal: (thrown) => thrown instanceof RangeError,
      schedule: (callback, delayMs) => timers.push({ callback, atMs: session.nowMs + delayMs }),
      nowMs: () => session.nowMs,
    },
    tokens(0),
  );
  const nextTimer = async () => {
    const timer = timers.shift();
    if (timer === undefined) return false;
    session.nowMs = timer.atMs;
    timer.callback();
    // The answers are there already; what follows from them takes microtasks only.
    await new Promise(setImmediate);
    return true;
  };
  return { session, asked, renewed, nextTimer };
}

test("a token is renewed before it expires, also after attempts that failed", async () => {
  const { session, asked, nextTimer } = signedIn(new Error("lost"), new Error("lost"), tokens(1));
  for (let fired = 0; fired < 3; fired++) await nextTimer();
  expect(session.token).toBe("token 1");
  expect(asked).toEqual(["refresh 0 at 240000", "refresh 0 at 245000", "refresh 0 at 255000"]);
  await nextTimer();
  expect(asked.at(-1)).toBe("refresh 1 at 495000");
});

test("attempts end when the token has expired, and when the provider refuses", async () => {
  const lost = signedIn();
  while (await lost.nextTimer());
  expect(lost.asked.at(-1)).toBe("refresh 0 at 275000");
  const refused = signedIn(new RangeError("invalid_grant"));
  while (await refused.nextTimer());
  expect(refused.asked).toHaveLength(1);
  expect(await refused.renewed("token 0")).toBeUndefined();
});

test("requests whose token is refused share one renewal", async () => {
  const { session, asked, renewed } = signedIn(tokens(1));
  const all = await Promise.all([renewed("token 0"), renewed("token 0")]);
  expect([...all, await renewed("token 0")]).toEqual(["token 1", "token 1", "token 1"]);
  expect(session.token).toBe("token 1");
  expect(asked).toHaveLength(1);
});

test("a refused token is renewed after the timer has failed", async () => {
  const { renewed, nextTimer } = signedIn(new Error("lost"), tokens(1));
  await nextTimer();
  expect(await renewed("token 0")).toBe("token 1");
});

test("the token of another sign-in is neither replaced nor returned", async () => {
  const { session, asked, renewed, nextTimer } = signedIn(tokens(1));
  session.token = "somebody else";
  expect(await renewed("somebody else")).toBeUndefined();
  expect(await renewed("token 0")).toBeUndefined();
  while (await nextTimer());
  expect(session.token).toBe("somebody else");
  expect(asked).toHaveLength(1);
});
