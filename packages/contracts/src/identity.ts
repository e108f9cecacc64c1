export * from "../gen/reeve/identity/v1/identity_service_pb.ts";
