import { expect, test } from "vitest";
import { z } from "zod";
import { readConfig } from "../config.ts";
import { tracingSettings, isTracingEnabled } from "./tracing-settings.ts";

const schema = z.object(tracingSettings);
const isEnabled = (environment: Record<string, string>) =>
  isTracingEnabled(readConfig(schema, environment));

test.each<[environment: Record<string, string>, isOn: boolean]>([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector:4318/v1/traces" }, true],
  [{ OTEL_TRACES_EXPORTER: "otlp" }, true],
  [{ OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }, false],
  [{ OTEL_SDK_DISABLED: "true", OTEL_TRACES_EXPORTER: "otlp" }, false],
])("with %o spans are exported: %s", (environment, isOn) => {
  expect(isEnabled(environment)).toBe(isOn);
});

test("unsupported settings are refused together", () => {
  const environment = {
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    OTEL_TRACES_EXPORTER: "zipkin",
    OTEL_TRACES_SAMPLER: "jaeger_remote",
    OTEL_TRACES_SAMPLER_ARG: "2",
  };
  for (const name of Object.keys(environment)) {
    expect(() => readConfig(schema, environment)).toThrow(name);
  }
});
