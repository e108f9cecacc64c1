export * from "../../gen/reeve/a2a/v1/push_pb.ts";
