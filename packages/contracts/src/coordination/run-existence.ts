export * from "../../gen/reeve/bus/v1/run_existence_pb.ts";
