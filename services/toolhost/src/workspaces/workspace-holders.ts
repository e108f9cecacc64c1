/** What another toolhost says when it is asked to let a workspace go. `silent`: nothing, in time. */
type ReleaseAnswer = "released" | "busy" | "silent";

/** The other toolhosts, as far as workspaces matter. */
export interface WorkspacePeers {
  /** Asks a host to save a workspace and let it go; with `onlyAsk`, whether calls are running there. */
  release(
    host: string,
    workspace: { readonly tenant: string; readonly id: string; readonly onlyAsk: boolean },
    signal: AbortSignal,
  ): Promise<ReleaseAnswer>;
}
