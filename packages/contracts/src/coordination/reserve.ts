export * from "../../gen/reeve/bus/v1/reserve_pb.ts";
