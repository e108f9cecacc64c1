import { counter } from "@reeve/platform/telemetry/metrics";

const resumes = counter({
  name: "reeve_stream_resumes_total",
  help: "Streams of events that clients asked for from a later place than the beginning.",
});

/** Counts a stream that goes on after `sequence`, if it does. */
export function countResume(sequence: number): void {
  if (sequence > 0) resumes.inc();
}
