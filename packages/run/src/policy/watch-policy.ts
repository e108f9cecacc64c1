import type { Policy } from "@reeve/agent/policy/policy";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { unusableFile, watchFiles } from "@reeve/platform/process/watch-files";
import type { Logger } from "@reeve/platform/telemetry/logger";

/**
 * Returns a function that gives the operator's policy of now, which is read again when its file changes. Undefined: the setting
 * names no file. Throws a Failure if the file cannot be used. When that happens later, the policy stays as it was, and the log
 * says what is wrong.
 */
export function watchPolicy(
  path: string | undefined,
  log: Logger,
  resources: AsyncDisposableStack,
): () => Policy | undefined {
  if (path === undefined) return () => undefined;
  const file = { setting: "REEVE_POLICY_FILE", path };
  const parse = ([content = Buffer.of()]: readonly Buffer[]) => {
    try {
      return parsePolicyFile(content.toString(), "the file");
    } catch (error) {
      throw unusableFile(file, error);
    }
  };
  const onChange = () => log.info({ path }, "the policy was read again");
  const watched = resources.use(watchFiles([file], { log, parse, onChange }));
  return () => watched.current;
}
