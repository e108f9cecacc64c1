import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema, RetryPolicySchema } from "@reeve/contracts/agent";
import { describe, expect, test } from "vitest";
import { defaultRetry, retryPolicyFor, retryTimes } from "./retry-policy.ts";

const specWith = (retry: object) => create(AgentSpecSchema, { retry });

describe("the retry policy of a run", () => {
  test("survives an outage of ten minutes by default", () => {
    const times = retryTimes(retryPolicyFor(create(AgentSpecSchema), undefined));
    expect(times).toEqual(defaultRetry);
    expect(times.maxElapsedMs).toBeGreaterThan(600_000);
    // The number of attempts does not end the retries before the time does.
    expect(times.maxRetries * times.maxBackoffMs * 0.75).toBeGreaterThan(times.maxElapsedMs);
  });

  // Requirement: RES-2
  test("has each field of the agent, else that of the deployment", () => {
    const deployment = create(RetryPolicySchema, {
      maxRetries: 7,
      maxBackoff: { seconds: 9n },
    });
    const policy = retryPolicyFor(specWith({ maxRetries: 0 }), deployment);
    expect(retryTimes(policy)).toEqual({ ...defaultRetry, maxRetries: 0, maxBackoffMs: 9_000 });
  });

  test("prefers the field that the agent sets when it contradicts one of the deployment", () => {
    const deployment = create(RetryPolicySchema, {
      initialBackoff: { seconds: 5n },
      maxBackoff: { seconds: 8n },
    });
    const slower = retryTimes(
      retryPolicyFor(specWith({ initialBackoff: { seconds: 20n } }), deployment),
    );
    expect(slower).toMatchObject({ initialBackoffMs: 20_000, maxBackoffMs: 20_000 });
    const faster = retryTimes(
      retryPolicyFor(specWith({ maxBackoff: { seconds: 2n } }), deployment),
    );
    expect(faster).toMatchObject({ initialBackoffMs: 2_000, maxBackoffMs: 2_000 });
  });
});
