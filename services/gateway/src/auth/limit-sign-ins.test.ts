import { createContextValues } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { RunService } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { setClientAddress } from "@reeve/platform/rpc/http/client-address";
import { fixedCredentials } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { authenticate } from "@reeve/platform/rpc/principal";
import { allRoles } from "@reeve/platform/rpc/roles";
import { expect, test } from "vitest";
import { limitSignIns } from "./limit-sign-ins.ts";
import { burst, refillMs } from "./sign-in-budget.ts";

/** As long as those that Reeve issues. */
const longToken = "a-right-token-that-nobody-can-guess-4711";

/** A gateway that knows three tokens. */
function gateway() {
  const clock = { ms: 0, now: () => clock.ms };
  const credential = { tenant: "acme", subject: "ann", roles: allRoles };
  const known = fixedCredentials(
    new Map([
      ["known-token", credential],
      ["right-token", credential],
      [longToken, credential],
    ]),
  );
  const limited = limitSignIns(authenticate(known), clock);
  /** Returns the kind of the refusal, or "accepted". */
  const send = async (address: string, token?: string) => {
    const values = createContextValues();
    setClientAddress(values, address);
    const requestHeader = new Headers(
      token === undefined ? {} : { authorization: `Bearer ${token}` },
    );
    const method = RunService.method.listRuns;
    try {
      await limited({ service: RunService, method, requestHeader, values });
      return "accepted";
    } catch (error) {
      return error instanceof Failure ? error.kind : error;
    }
  };
  const guess = async (address: string) => {
    for (let turn = 0; turn < burst; turn++) await send(address, `guess-${turn}`);
  };
  return { clock, limited, send, guess };
}

test("a network that guesses tokens is refused even the right one, and nobody who has signed in before", async () => {
  const { clock, send, guess } = gateway();
  expect(await send("192.0.2.1", "known-token")).toBe("accepted");
  await guess("192.0.2.1");
  expect(await send("192.0.2.1", "wrong-token")).toBe("exhausted");
  expect(await send("192.0.2.1", "right-token")).toBe("exhausted");
  expect(await send("192.0.2.1", "known-token")).toBe("accepted");
  expect(await send("192.0.2.1")).toBe("unauthenticated");
  clock.ms += refillMs;
  expect(await send("192.0.2.1", "right-token")).toBe("accepted");
});

test("a network that guesses tokens is not refused one that nobody can guess, and learns nothing about wrong ones", async () => {
  const { send, guess } = gateway();
  await guess("192.0.2.1");
  expect(await send("192.0.2.1", longToken.replace("right", "wrong"))).toBe("exhausted");
  expect(await send("192.0.2.1", longToken)).toBe("accepted");
});

test("an expired token of the identity provider is no guess, and one with a wrong signature is", async () => {
  const refusal = { credential: "EXPIRED" };
  const check = () =>
    Promise.reject(
      new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, "refused", {
        metadata: { ...refusal },
      }),
    );
  const limited = limitSignIns(check, { now: () => 0 });
  const kindOf = async (token: string) => {
    const requestHeader = new Headers({ authorization: `Bearer ${token}` });
    const method = RunService.method.listRuns;
    const context = { service: RunService, method, requestHeader, values: createContextValues() };
    const answer: unknown = await limited(context)?.catch((error: unknown) => error);
    return answer instanceof Failure ? answer.kind : answer;
  };
  for (let turn = 0; turn < burst * 2; turn++) {
    expect(await kindOf(`${longToken}-${turn}`)).toBe("unauthenticated");
  }
  refusal.credential = "BAD_SIGNATURE";
  for (let turn = 0; turn < burst; turn++) await kindOf(`${longToken}-bad-${turn}`);
  expect(await kindOf(`${longToken}-more`)).toBe("exhausted");
});

test("an address of IPv6 counts for its /64, and no other network is refused", async () => {
  const { send, guess } = gateway();
  await guess("2001:db8::1");
  expect(await send("2001:db8::2", "right-token")).toBe("exhausted");
  expect(await send("2001:db8:0:1::2", "right-token")).toBe("accepted");
});

test("a token that cannot be checked is no guess", async () => {
  const down = new Failure("unavailable", ErrorReason.UNAVAILABLE, "the provider is away");
  const limited = limitSignIns(() => Promise.reject(down), { now: () => 0 });
  const values = createContextValues();
  const requestHeader = new Headers({ authorization: "Bearer some-token" });
  const context = {
    service: RunService,
    method: RunService.method.listRuns,
    requestHeader,
    values,
  };
  for (let turn = 0; turn < burst * 2; turn++) await expect(limited(context)).rejects.toBe(down);
});
