export * from "../gen/reeve/approval/v1/approval_pb.ts";
