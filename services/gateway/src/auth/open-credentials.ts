import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@reeve/platform/async/clock";
import type { Credential, Credentials } from "@reeve/platform/rpc/principal";
import { fixedCredentials } from "@reeve/platform/rpc/principal";
import { allRoles } from "@reeve/platform/rpc/roles";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { GatewayConfig } from "../config.ts";
import { watchTokenFile } from "./watch-token-file.ts";

/**
 * Returns the tokens of the settings and of the token file. Without any, generates a token for development, in a file that the
 * log names. Throws a Failure if the token file cannot be used.
 */
export function openCredentials(
  { REEVE_TOKENS: tokens, REEVE_TOKENS_FILE: file }: GatewayConfig,
  log: Logger,
  resources: AsyncDisposableStack,
): Credentials {
  if (file === undefined) {
    return fixedCredentials(tokens.size > 0 ? tokens : developmentToken(log, resources));
  }
  const fixed = fixedCredentials(tokens);
  const watched = resources.use(watchTokenFile(file, { clock: systemClock, log }));
  return { find: (token) => fixed.find(token) ?? watched.find(token) };
}

function developmentToken(
  log: Logger,
  resources: AsyncDisposableStack,
): ReadonlyMap<string, Credential> {
  const development = randomBytes(18).toString("base64url");
  // Not logged: others may read the log. Only the user of this process can read the file.
  const folder = mkdtempSync(join(tmpdir(), "reeve-token-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, `${development}\n`, { mode: 0o600 });
  log.warn(
    { tokenFile },
    "REEVE_TOKENS is not set; use the token in this file, which is valid until the process ends",
  );
  return new Map([[development, { tenant: "default", subject: "developer", roles: allRoles }]]);
}
