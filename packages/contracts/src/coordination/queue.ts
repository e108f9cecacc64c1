export * from "../../gen/reeve/queue/v1/holder_pb.ts";
