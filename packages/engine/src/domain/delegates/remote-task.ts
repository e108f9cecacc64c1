/** A task that an agent at an endpoint has not ended, as far as the log says. */
export interface OpenRemoteTask {
  /** The URL of the endpoint. */
  readonly url: string;
  readonly taskId: string;
}
