export * from "../gen/reeve/access/v1/role_pb.ts";
