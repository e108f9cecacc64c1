import type { ListValue } from "@bufbuild/protobuf/wkt";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { ToolSettings } from "@reeve/contracts/tool";

/** The settings of one call, with defaults for those that apply to every tool. */
export interface CallSettings {
  /** Modules that code may import. Undefined: the default of the tool. */
  readonly allowedImports: readonly string[] | undefined;
  /** Commands that are refused. Undefined: the default of the tool. */
  readonly commandBlacklist: readonly string[] | undefined;
  readonly codeTimeoutMs: number;
  readonly commandTimeoutMs: number;
  readonly readOnly: boolean;
  /** How many bytes of a result the model reads. */
  readonly resultBytes: number;
  /** Hosts and ports that code and commands may reach. Empty: none. */
  readonly network: readonly string[];
  /** Names of the credentials that the proxy of the sandbox uses for the call. Empty: none. */
  readonly networkCredentials: readonly string[];
  /** Whether the agent asks for the tool of the class `network` that is called. */
  readonly webTools: boolean;
  /** The delegate that calls the tool. Empty: the agent of the run does. */
  readonly delegateId: string;
}

const defaultTimeoutMs = 30_000;
const defaultResultBytes = 50_000;
/**
 * The bounds of `max_result_bytes` in an agent spec, applied here because requests may come from elsewhere: enough to say what
 * is missing, and few enough for one message.
 */
const minResultBytes = 1_000;
const maxResultBytes = 500_000;

/** Returns the settings of a call. */
export function callSettings(settings: ToolSettings | undefined): CallSettings {
  const { allowedImports, commandBlacklist, codeTimeout, commandTimeout } = settings ?? {};
  return {
    allowedImports: stringsOf(allowedImports),
    commandBlacklist: stringsOf(commandBlacklist),
    codeTimeoutMs: codeTimeout ? durationMs(codeTimeout) : defaultTimeoutMs,
    commandTimeoutMs: commandTimeout ? durationMs(commandTimeout) : defaultTimeoutMs,
    readOnly: settings?.readOnly ?? false,
    resultBytes: resultBytesOf(settings?.resultBytes ?? 0),
    network: [...(settings?.networkAllow ?? []), ...(settings?.networkAllowWithCredentials ?? [])],
    networkCredentials: settings?.networkCredentials ?? [],
    webTools: settings?.webTools ?? false,
    delegateId: settings?.delegateId ?? "",
  };
}

/** The time limit of one command. `note` tells the model that it is shorter than requested. Empty: it is not. */
export interface TimeLimit {
  readonly timeoutMs: number;
  readonly note: string;
}

/** Returns the time limit of a command: what the model requested, up to `limitMs`. */
export function timeLimitFor(requestedSeconds: unknown, limitMs: number): TimeLimit {
  if (typeof requestedSeconds !== "number") return { timeoutMs: limitMs, note: "" };
  const requestedMs = requestedSeconds * 1_000;
  if (requestedMs <= limitMs) return { timeoutMs: requestedMs, note: "" };
  const note = `the time limit is ${limitMs / 1_000} s: the requested ${requestedSeconds} s are more than this agent may use`;
  return { timeoutMs: limitMs, note };
}

function resultBytesOf(requested: number): number {
  const bytes = requested === 0 ? defaultResultBytes : requested;
  return Math.max(minResultBytes, Math.min(bytes, maxResultBytes));
}

function stringsOf(list: ListValue | undefined): readonly string[] | undefined {
  return list?.values.flatMap(({ kind }) => (kind.case === "stringValue" ? [kind.value] : []));
}
