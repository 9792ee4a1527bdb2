// Waits for what must come to be.

const STEP_MS = 50;

/** Looks again and again until it is so; fails with what is there instead, as `found` tells it. */
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  within = 30_000,
  found: () => string | Promise<string> = () => '',
): Promise<void> {
  const end = Date.now() + within;
  while (Date.now() < end) {
    const answer = await isSo().catch(() => false);
    if (answer) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  throw new Error(`not within ${within} ms: ${what}\n${await found()}`);
}
