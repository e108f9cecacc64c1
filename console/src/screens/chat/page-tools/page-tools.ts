import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { ClientManifestSchema } from "@reeve/contracts/tool";

/** A tool that the page executes for an agent. */
export interface PageTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Returns what the model reads. The arguments match the schema. Executing it twice must do no harm. */
  readonly execute: (args: JsonObject) => string;
}

/** What tools do with the page. */
export interface PageActions {
  readonly selection: () => string;
  readonly setTheme: (theme: string) => void;
}

/** Characters of a selection that a model reads. */
const maxSelection = 10_000;

/** Returns the tools that a chat offers. They read and change nothing but what the person sees. */
export function pageTools({ selection, setTheme }: PageActions): readonly PageTool[] {
  return [
    {
      name: "get_selection",
      description:
        "Returns the text that the user has selected in the page of the chat, at most 10,000 characters.",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      execute: () => {
        const text = selection();
        return text === "" ? "The user has selected nothing." : text.slice(0, maxSelection);
      },
    },
    {
      name: "set_theme",
      description: "Shows the page of the chat to the user in a light or a dark theme.",
      inputSchema: {
        type: "object",
        properties: { theme: { type: "string", enum: ["light", "dark", "system"] } },
        required: ["theme"],
        additionalProperties: false,
      },
      execute: ({ theme }) => {
        if (typeof theme !== "string") throw new Error("theme is missing");
        setTheme(theme);
        return `The user sees the page in the theme ${theme}.`;
      },
    },
  ];
}

/** Returns what a client offers, for the start of a run and for the stream of its calls. */
export function manifestOf(
  clientId: string,
  tools: readonly PageTool[],
): MessageInitShape<typeof ClientManifestSchema> {
  return {
    clientId,
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  };
}
