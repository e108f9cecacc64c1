import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import type { AgentSpec, RetryPolicy } from "@reeve/contracts/agent";
import { RetryPolicySchema } from "@reeve/contracts/agent";

/** How failed model calls are repeated. */
export interface RetryTimes {
  /** Attempts after the first one. */
  readonly maxRetries: number;
  /** From the first failure of a call to the start of its last attempt. */
  readonly maxElapsedMs: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
}

/** With the longest delay, a hundred attempts take longer than an hour: the time is what ends a long outage. */
export const defaultRetry: RetryTimes = {
  maxRetries: 100,
  maxElapsedMs: 3_600_000,
  initialBackoffMs: 500,
  maxBackoffMs: 60_000,
};

/** Returns the policy for a run of the agent, with all fields: its own, else those of the deployment, else the defaults. */
export function retryPolicyFor(
  { retry }: Pick<AgentSpec, "retry">,
  deployment: RetryPolicy | undefined,
): RetryPolicy {
  const of = (name: "maxElapsed" | "initialBackoff" | "maxBackoff"): Duration | undefined =>
    retry?.[name] ?? deployment?.[name];
  const initialMs = millis(of("initialBackoff"), defaultRetry.initialBackoffMs);
  const maxMs = millis(of("maxBackoff"), defaultRetry.maxBackoffMs);
  // An agent that sets only one of the two may contradict the other one of the deployment; its own wins.
  const isOwnInitial = retry?.initialBackoff !== undefined && retry.maxBackoff === undefined;
  return create(RetryPolicySchema, {
    maxRetries: retry?.maxRetries ?? deployment?.maxRetries ?? defaultRetry.maxRetries,
    maxElapsed: durationFromMs(millis(of("maxElapsed"), defaultRetry.maxElapsedMs)),
    initialBackoff: durationFromMs(isOwnInitial ? initialMs : Math.min(initialMs, maxMs)),
    maxBackoff: durationFromMs(isOwnInitial ? Math.max(initialMs, maxMs) : maxMs),
  });
}

/** Returns the times of a policy. */
export function retryTimes(policy: RetryPolicy): RetryTimes {
  return {
    maxRetries: policy.maxRetries ?? defaultRetry.maxRetries,
    maxElapsedMs: millis(policy.maxElapsed, defaultRetry.maxElapsedMs),
    initialBackoffMs: millis(policy.initialBackoff, defaultRetry.initialBackoffMs),
    maxBackoffMs: millis(policy.maxBackoff, defaultRetry.maxBackoffMs),
  };
}

function millis(duration: Duration | undefined, defaultMs: number): number {
  return duration === undefined ? defaultMs : durationMs(duration);
}
