export * from "../gen/reeve/notify/v1/notification_pb.ts";
export * from "../gen/reeve/notify/v1/notification_service_pb.ts";
