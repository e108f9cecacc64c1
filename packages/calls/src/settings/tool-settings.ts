import type { ListValue } from "@bufbuild/protobuf/wkt";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { ToolSettings } from "@reeve/contracts/tool";
import { defaultBlacklist } from "./command-blacklist.ts";

/** How the tools of one call behave, with every default filled in. */
export interface CallSettings {
  readonly allowedImports: readonly string[];
  readonly commandBlacklist: readonly string[];
  readonly codeTimeoutMs: number;
  readonly commandTimeoutMs: number;
  readonly readOnly: boolean;
  /** Bytes of a result that the model reads: enough to say what is missing, and few enough for one message. */
  readonly resultBytes: number;
  /** Hosts and ports that code and commands may reach. Empty: none. */
  readonly network: readonly string[];
}

/** The modules that `execute_code` imports unless the agent's spec has a list of its own. */
const defaultImports: readonly string[] = [
  "math",
  "json",
  "datetime",
  "re",
  "collections",
  "itertools",
  "functools",
  "typing",
  "dataclasses",
  "pathlib",
  "os.path",
];

const defaultTimeoutMs = 30_000;
const defaultResultBytes = 50_000;
/** The same bounds as those of `max_result_bytes` of a spec; requests that come from elsewhere are held to them here. */
const minResultBytes = 1_000;
const maxResultBytes = 500_000;

export function callSettings(settings: ToolSettings | undefined): CallSettings {
  const { allowedImports, commandBlacklist, codeTimeout, commandTimeout } = settings ?? {};
  return {
    allowedImports: stringsOf(allowedImports) ?? defaultImports,
    commandBlacklist: stringsOf(commandBlacklist) ?? defaultBlacklist,
    codeTimeoutMs: codeTimeout ? durationMs(codeTimeout) : defaultTimeoutMs,
    commandTimeoutMs: commandTimeout ? durationMs(commandTimeout) : defaultTimeoutMs,
    readOnly: settings?.readOnly ?? false,
    resultBytes: resultBytesOf(settings?.resultBytes ?? 0),
    network: settings?.networkAllow ?? [],
  };
}

/** What a call may take: what it asks for, within what the settings permit. */
export function timeoutFor(askedSeconds: unknown, limitMs: number): number {
  return typeof askedSeconds === "number" ? Math.min(askedSeconds * 1_000, limitMs) : limitMs;
}

function resultBytesOf(asked: number): number {
  const wanted = asked === 0 ? defaultResultBytes : asked;
  return Math.max(minResultBytes, Math.min(wanted, maxResultBytes));
}

function stringsOf(list: ListValue | undefined): readonly string[] | undefined {
  return list?.values.flatMap(({ kind }) => (kind.case === "stringValue" ? [kind.value] : []));
}
