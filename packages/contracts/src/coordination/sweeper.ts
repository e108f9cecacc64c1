export * from "../../gen/reeve/bus/v1/sweeper_pb.ts";
