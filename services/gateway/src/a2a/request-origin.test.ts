import { expect, test } from "vitest";
import { grpcAddressOf } from "./request-origin.ts";

const publicUrl = "https://reeve.example";

test.each([
  ["http://127.0.0.1:4680", {}, "127.0.0.1:4680"],
  ["https://reeve.example", {}, "reeve.example:443"],
  ["http://[::1]:4680", {}, "[::1]:4680"],
  ["http://not a host", {}, undefined],
  [publicUrl, { publicUrl }, undefined],
  [publicUrl, { publicUrl, grpcAddress: "grpc.reeve.example:443" }, "grpc.reeve.example:443"],
  ["http://127.0.0.1:4680", { grpcAddress: "off" }, undefined],
])("a card read at %s with the settings %j names %s for gRPC", (origin, settings, address) => {
  const place = { publicUrl: undefined, grpcAddress: undefined, ...settings };
  expect(grpcAddressOf(place, origin)).toBe(address);
});
