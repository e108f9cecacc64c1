import { counter } from "@reeve/platform/telemetry/metrics";

const resumes = counter({
  name: "reeve_stream_resumes_total",
  help: "Event streams that clients requested from a sequence after the first.",
});

/** Counts a stream after `sequence`, unless it starts at the beginning. */
export function countResume(sequence: number): void {
  if (sequence > 0) resumes.inc();
}
