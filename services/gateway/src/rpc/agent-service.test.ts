import { create } from "@bufbuild/protobuf";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { memoryPorts } from "../../test/support/memory-ports.ts";
import { agentService } from "./agent-service.ts";

test("models and providers are listed in the order of their names", async () => {
  const models = create(ModelCatalogSchema, {
    models: [{ id: "b" }, { id: "a" }],
    providers: [{ name: "openai" }, { name: "anthropic" }],
  });
  const ports = { ...memoryPorts(), offer: () => ({ tools: [], models }) };
  const handlers = agentService(ports, { log: createLogger("test", "silent") });
  // The handler reads nothing of the request and its context.
  const listed = await Reflect.apply(handlers.listModels, undefined, []);
  expect(listed).toMatchObject({
    models: [{ id: "a" }, { id: "b" }],
    providers: [{ name: "anthropic" }, { name: "openai" }],
  });
});
