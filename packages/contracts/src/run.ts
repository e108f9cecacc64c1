import type { RunEvent } from "../gen/reeve/run/v1/run_event_pb.ts";

export * from "../gen/reeve/run/v1/run_event_pb.ts";
export * from "../gen/reeve/run/v1/run_service_pb.ts";

/** The kinds of events that this version knows. */
export type RunEventKind = NonNullable<RunEvent["event"]["case"]>;
