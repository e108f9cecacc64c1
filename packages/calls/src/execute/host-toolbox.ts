import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { SandboxFeaturesSchema, ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolCatalogSchema, ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { Tool, Toolbox } from "../ports/tool.ts";

/** Bytes of all tools of a catalog, and of one of them: a message of the bus holds a megabyte. */
const maxCatalogBytes = 900_000;
const maxToolBytes = 100_000;

/** Returns the tools that one source, such as an MCP server, offers now. */
export type ToolSource = () => readonly Tool[];

/** The built-in tools, and those that MCP servers and providers list now. */
export class HostToolbox implements Toolbox {
  readonly #builtin: readonly Tool[];
  readonly #sources: readonly ToolSource[];
  readonly #internal: readonly Tool[];

  /** `internal` are tools that only the runtime calls: they can be found, but are not listed. */
  constructor(
    builtin: readonly Tool[],
    sources: readonly ToolSource[],
    internal: readonly Tool[] = [],
  ) {
    this.#internal = internal;
    this.#builtin = builtin;
    this.#sources = sources;
  }

  find(name: string): Tool | undefined {
    return [...this.list(), ...this.#internal].find(({ descriptor }) => descriptor.name === name);
  }

  list(): readonly Tool[] {
    return [...this.#builtin, ...this.#sources.flatMap((tools) => tools())];
  }
}

/** The host that announces a catalog. */
export interface CatalogHost {
  readonly pool: string;
  /** Absent: there is only one host. */
  readonly host?: string;
  readonly isolation: string;
  /** What its sandboxes offer to code. Absent: it executes none, or this is not known. */
  readonly sandbox?: MessageInitShape<typeof SandboxFeaturesSchema>;
}

/**
 * Returns the catalog that a toolhost announces. It fits in one message, however large the descriptions of tools are;
 * `onLeftOut` is called with the name of each tool that does not fit.
 */
export function catalogOf(
  toolbox: Toolbox,
  { pool, host = "", isolation, sandbox }: CatalogHost,
  onLeftOut: (tool: string) => void = () => undefined,
): ToolCatalog {
  const tools: ToolDescriptor[] = [];
  let bytes = 0;
  for (const { descriptor } of toolbox.list()) {
    const size = bytesOf(descriptor);
    if (size > maxToolBytes || bytes + size > maxCatalogBytes) onLeftOut(descriptor.name);
    else {
      tools.push({ ...descriptor, pool });
      bytes += size;
    }
  }
  return create(ToolCatalogSchema, {
    pool,
    host,
    isolation,
    announcedAt: timestampNow(),
    bindsContent: true,
    usesCredentials: true,
    tools,
    ...(sandbox && { sandbox }),
  });
}

/** Infinite for a descriptor that cannot be written at all, such as one whose schema is nested without end. */
function bytesOf(descriptor: ToolDescriptor): number {
  try {
    return toBinary(ToolDescriptorSchema, descriptor).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
