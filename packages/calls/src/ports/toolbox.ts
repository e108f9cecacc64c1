import { create, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolCatalogSchema, ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { Tool, Toolbox } from "./tool.ts";

/** Bytes of the tools of one catalog, and of one of them: a message of the bus holds a megabyte. */
const maxBytes = 900_000;
const maxBytesOfTool = 100_000;

/** The tools that one place offers at the moment. */
export type ToolSource = () => readonly Tool[];

/** The built-in tools, and those that MCP servers and providers list at the moment. */
export class HostToolbox implements Toolbox {
  readonly #builtin: readonly Tool[];
  readonly #sources: readonly ToolSource[];

  constructor(builtin: readonly Tool[], sources: readonly ToolSource[]) {
    this.#builtin = builtin;
    this.#sources = sources;
  }

  find(name: string): Tool | undefined {
    return this.list().find(({ descriptor }) => descriptor.name === name);
  }

  list(): readonly Tool[] {
    return [...this.#builtin, ...this.#sources.flatMap((tools) => tools())];
  }
}

/** Who announces tools. */
export interface Announced {
  readonly pool: string;
  /** Absent: there is but one host. */
  readonly host?: string;
  readonly isolation: string;
}

/**
 * What a toolhost announces: one message, however much others have to say of their tools. `onLeftOut` hears of each that
 * does not go into it.
 */
export function catalogOf(
  toolbox: Toolbox,
  { pool, host = "", isolation }: Announced,
  onLeftOut: (tool: string) => void = () => undefined,
): ToolCatalog {
  const tools: ToolDescriptor[] = [];
  let bytes = 0;
  for (const { descriptor } of toolbox.list()) {
    const size = bytesOf(descriptor);
    if (size > maxBytesOfTool || bytes + size > maxBytes) onLeftOut(descriptor.name);
    else {
      tools.push({ ...descriptor, pool });
      bytes += size;
    }
  }
  return create(ToolCatalogSchema, { pool, host, isolation, announcedAt: timestampNow(), tools });
}

/** Infinite for what cannot be written at all, as a record that is nested without end. */
function bytesOf(descriptor: ToolDescriptor): number {
  try {
    return toBinary(ToolDescriptorSchema, descriptor).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
