import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { plainRoutes } from "@reeve/gateway/rpc/plain-routes";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import openapi from "@reeve/gateway/rpc/openapi.json" with { type: "json" };

test("the OpenAPI document is valid", async () => {
  const { valid, errors } = await new Validator().validate(openapi);
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  expect(openapi.openapi).toMatch(/^3\.1/);
});

test("the OpenAPI document has every address of plain HTTP, and no other", () => {
  const documented = Object.entries(openapi.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((verb) => `${verb.toUpperCase()} ${path}`),
  );
  expect(documented.toSorted()).toEqual(
    plainRoutes.map(({ verb, path }) => `${verb} ${path}`).toSorted(),
  );
});

const histories = join(import.meta.dirname, "../histories");

test("recorded events have the schema of the OpenAPI document", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(openapi, "openapi");
  const isEvent = ajv.compile({ $ref: "openapi#/components/schemas/reeve.run.v1.RunEvent" });
  const events = globSync("*.json", { cwd: histories }).flatMap(
    (file) => JSON.parse(readFileSync(join(histories, file), "utf8")) as readonly object[],
  );
  expect(events.length).toBeGreaterThan(500);
  for (const event of events) {
    expect({ event, isEvent: isEvent(event), errors: isEvent.errors }).toMatchObject({
      isEvent: true,
    });
  }
  expect(isEvent({ sequence: "one" })).toBe(false);
});
