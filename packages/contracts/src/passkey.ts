export * from "../gen/reeve/passkey/v1/passkey_pb.ts";
