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

test("a network that sends many wrong tokens is refused without a look at them, and nobody who has signed in before", async () => {
  expect(await answerTo(tokens.globex)).toBe("accepted");
  const refusals: Failure[] = [];
  for (let guess = 0; guess < 1_000 && refusals.length === 0; guess++) {
    const answer = await answerTo(`guess-${guess}`);
    if (answer instanceof Failure && answer.kind === "exhausted") refusals.push(answer);
  }
  const [refusal] = refusals;
  expect(refusal?.metadata).toEqual({
    quota: "sign-ins",
    limit: "wrong_credentials",
    max: String(burst),
  });
  expect(refusal?.retryAfterMs).toBeGreaterThan(0);
  expect(await answerTo(tokens.globex)).toBe("accepted");
});
