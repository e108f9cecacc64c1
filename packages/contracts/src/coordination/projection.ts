export * from "../../gen/reeve/bus/v1/projection_pb.ts";
