export * from "../gen/reeve/artifact/v1/artifact_pb.ts";
