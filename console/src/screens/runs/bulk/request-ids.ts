import { newId } from "../../../api/new-id.ts";

/** The ids of requests to start a run again. One whose answer was lost is used again, so that it starts no second run. */
export class RequestIds {
  readonly #unanswered = new Map<string, string>();

  /** Makes the request for a run. After its answer, the next request for the run is another one. */
  async use<Answer>(runId: string, request: (id: string) => Promise<Answer>): Promise<Answer> {
    const id = this.#unanswered.get(runId) ?? newId();
    this.#unanswered.set(runId, id);
    const answer = await request(id);
    this.#unanswered.delete(runId);
    return answer;
  }
}
