export * from "../gen/reeve/bus/v1/bus_pb.ts";
