import type { ContentPart } from "@reeve/contracts/content/parts";
import type { GatewayPorts } from "../gateway-ports.ts";
import type { PartsToStore } from "./store-parts.ts";
import { storeParts } from "./store-parts.ts";

/** What refers to the files of a request. */
export interface Commit<T> {
  /** Appends the fact that refers to them. */
  append(): Promise<T>;
  /** Returns the parts that the log has. Another attempt of the request may have appended its own. Undefined: unknown. */
  partsOf(appended: T): readonly ContentPart[] | undefined;
  /** Whether an error shows that nothing was appended. After any other, the files stay: the log may refer to them. */
  isRefused(error: unknown): boolean;
}

/** Stores the files of a request, then appends what refers to them. Files to which the log does not refer are deleted again. */
export async function withStoredParts<T>(
  ports: Pick<GatewayPorts, "artifacts" | "artifactQuotas">,
  toStore: PartsToStore,
  { append, partsOf, isRefused }: Commit<T>,
  signal: AbortSignal,
): Promise<T> {
  const withdraw = await storeParts(ports, toStore, signal);
  try {
    const appended = await append();
    const parts = partsOf(appended);
    if (parts !== undefined && !refersToAll(parts, toStore)) await withdraw();
    return appended;
  } catch (error) {
    if (isRefused(error)) await withdraw();
    throw error;
  }
}

function refersToAll(parts: readonly ContentPart[], { contents }: PartsToStore): boolean {
  const ids = new Set(
    parts.flatMap(({ part }) => (part.case === "file" ? [part.value.artifactId] : [])),
  );
  return contents.every(({ file }) => ids.has(file.artifactId));
}
