import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { Failure } from "@reeve/platform/failure";
import { afterAll, beforeAll, expect, test } from "vitest";
import { burst } from "../src/auth/sign-in-budget.ts";
import { clientsOf } from "./support/clients.ts";
import type { GatewayBench } from "./support/gateway-bench.ts";
import { openGatewayBench, tokens } from "./support/gateway-bench.ts";

let bench: GatewayBench;

beforeAll(async () => {
  bench = await openGatewayBench();
});

afterAll(() => bench[Symbol.asyncDispose]());

async function answerTo(token: string): Promise<"accepted" | Failure> {
  const { runs } = clientsOf(bench.url, `Bearer ${token}`, "gRPC");
  const answer = await runs.listRuns({}).catch(failureFrom);
  return answer instanceof Failure ? answer : "accepted";
}

test("a network that guesses tokens is refused even the right one, and nobody who has signed in before", async () => {
  expect(await answerTo(tokens.globex)).toBe("accepted");
  for (let guess = 0; guess < burst; guess++) {
    expect(await answerTo(`guess-${guess}`)).toMatchObject({ kind: "unauthenticated" });
  }
  const refusal = await answerTo("one-more-guess");
  expect(refusal).toMatchObject({
    kind: "exhausted",
    metadata: { quota: "sign-ins", limit: "wrong_credentials", max: String(burst) },
  });
  expect(refusal instanceof Failure && refusal.retryAfterMs).toBeGreaterThan(0);
  // The right guess cannot be told from a wrong one.
  expect(await answerTo(tokens.acme)).toMatchObject({ kind: "exhausted" });
  expect(await answerTo(tokens.globex)).toBe("accepted");
});
