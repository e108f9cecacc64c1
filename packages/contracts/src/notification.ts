export * from "../gen/reeve/notify/v1/notification_pb.ts";
