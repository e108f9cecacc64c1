// A process that exports spans as its environment says, logs inside and outside of a span, and shuts down gracefully.
import process from "node:process";
import { ROOT_CONTEXT } from "@opentelemetry/api";
import { z } from "zod";
import { readConfig } from "../../src/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { tracingSettings } from "../../src/telemetry/tracing-settings.ts";
import { inSpan } from "../../src/telemetry/spans.ts";
import { startTracing } from "../../src/telemetry/start-tracing.ts";

const log = createLogger("program", "info");
const tracing = await startTracing(
  "program",
  readConfig(z.object(tracingSettings), process.env),
  log,
);
for (let span = 0; span < 5_000; span++) {
  await inSpan("work", {}, ROOT_CONTEXT, () => Promise.resolve());
}
await inSpan("work", {}, ROOT_CONTEXT, () => Promise.resolve(log.info("in a span")));
log.info("in none");
await tracing[Symbol.asyncDispose]();
log.info("ended");
process.exit();
