/** One request to the API of a cluster. */
export interface ClusterRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
}
