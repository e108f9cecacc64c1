/** A client of Reeve: starts runs, watches them over lost connections, and decides approvals. */
export { Code } from "@connectrpc/connect";
export type { CallOptions } from "./client.ts";
export { Client, connect } from "./client.ts";
export type { Services } from "./connection.ts";
export type { Approval } from "./gen/reeve/approval/v1/approval_pb.ts";
export { ApprovalState } from "./gen/reeve/approval/v1/approval_pb.ts";
export type { Artifact } from "./gen/reeve/artifact/v1/artifact_pb.ts";
export { ErrorReason } from "./gen/reeve/error/v1/error_pb.ts";
export type { RunEvent } from "./gen/reeve/run/v1/run_event_pb.ts";
export { EventFamily, RunStatus } from "./gen/reeve/run/v1/run_event_pb.ts";
export type { Run } from "./gen/reeve/run/v1/run_service_pb.ts";
export type { ClientOptions } from "./options.ts";
export type { Violation } from "./reeve-error.ts";
export { ReeveError } from "./reeve-error.ts";
export type { Download, Upload } from "./transfer.ts";
export type { WatchOptions } from "./watch.ts";
export { Watch } from "./watch.ts";
