import { histogram } from "@reeve/platform/telemetry/metrics";

const starts = histogram({
  name: "reeve_sandbox_start_seconds",
  help: "Time until a command has a sandbox: a `cold` one starts for it, a `warm` one was waiting.",
  labels: ["start"],
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

/** Records how long a command waited for its sandbox. */
export function measureStart(start: "warm" | "cold", tookMs: number): void {
  starts.observe({ start }, tookMs / 1_000);
}
