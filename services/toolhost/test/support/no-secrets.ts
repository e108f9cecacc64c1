import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { Secrets } from "../../src/secrets/secrets.ts";

/** The secrets of a toolhost that has none. */
export const noSecrets = new Secrets([], processRedaction);
