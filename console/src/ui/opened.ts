import { createContext } from "react";

/** Which disclosures of an item a person has opened and closed. */
interface Opened {
  readonly store: Map<string, boolean>;
  readonly item: string;
}

/** The item that contains a disclosure. Undefined: none that leaves the page and comes back. */
export const OpenedContext = createContext<Opened | undefined>(undefined);
