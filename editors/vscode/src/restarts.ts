// Decides whether a server that ended is started again: always, unless it ends again and again.

const MOST = 5;
const WINDOW_MS = 60_000;

export class Restarts {
  #times: number[] = [];

  /** Whether to start again at this time, in milliseconds; counts the start if so. */
  mayRestart(now: number): boolean {
    this.#times = this.#times.filter((time) => now - time < WINDOW_MS);
    if (this.#times.length >= MOST) {
      return false;
    }
    this.#times.push(now);
    return true;
  }
}
