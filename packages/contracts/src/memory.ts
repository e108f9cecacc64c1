export * from "../gen/reeve/memory/v1/memory_pb.ts";
