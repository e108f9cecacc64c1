export * from "../gen/reeve/access/v1/access_service_pb.ts";
