export * from "../../gen/reeve/bus/v1/archive_pb.ts";
