/** The tasks in progress, for an owner that waits for them before it ends. */
export class TaskSet {
  readonly #tasks = new Set<Promise<unknown>>();

  /** How many tasks are in progress. */
  get size(): number {
    return this.#tasks.size;
  }

  /**
   * Counts `task` until it settles, and returns it. The set ignores its error, so that nothing reports an unhandled
   * rejection: the caller has to handle it.
   */
  add<Result>(task: Promise<Result>): Promise<Result> {
    this.#tasks.add(task);
    const remove = () => void this.#tasks.delete(task);
    task.then(remove, remove);
    return task;
  }

  /** Resolves when all tasks that are in progress now have settled. Never rejects. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#tasks);
  }
}
