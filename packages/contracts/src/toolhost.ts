export * from "../gen/reeve/tool/v1/toolhost_pb.ts";
export * from "../gen/reeve/bus/v1/run_liveness_pb.ts";
