export * from "../gen/reeve/error/v1/error_pb.ts";
