import type { Policy } from "@reeve/agent/policy/policy";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { watchFile } from "@reeve/platform/process/watch-file";
import type { Logger } from "@reeve/platform/telemetry/logger";

interface PolicyFileOptions {
  /** Throws a Failure for a policy that this process cannot apply. Default: it applies every policy. */
  readonly assertApplicable?: (policy: Policy) => void;
}

/**
 * Returns a function that gives the operator's policy of now, which is read again when its file changes. Undefined: the setting
 * names no file. Throws a Failure if the file cannot be used. When that happens later, the policy stays as it was, and the log
 * says what is wrong.
 */
export function watchPolicy(
  path: string | undefined,
  log: Logger,
  resources: AsyncDisposableStack,
  { assertApplicable }: PolicyFileOptions = {},
): () => Policy | undefined {
  if (path === undefined) return () => undefined;
  const parse = (text: string) => {
    const policy = parsePolicyFile(text, "the file");
    assertApplicable?.(policy);
    return policy;
  };
  const file = { setting: "REEVE_POLICY_FILE", noun: "policy", parse };
  const watched = resources.use(watchFile(path, { ...file, log }));
  return () => watched.current;
}
