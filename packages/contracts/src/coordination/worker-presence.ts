export * from "../../gen/reeve/operations/v1/worker_presence_pb.ts";
