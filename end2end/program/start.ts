// Before all tests: one installation for each worker, and one that is the stage of the pictures. After all tests: each has
// to be in order, and is ended.
import { mkdirSync } from 'node:fs';
import type { FullConfig } from '@playwright/test';
import { type Address, Stack } from './stack';

const VARIABLE = 'SECKILL_END2END';

/** The installation that pictures are taken of: nothing is in it but what they show. */
export const STAGE = -1;

export default async function start(config: FullConfig): Promise<() => Promise<void>> {
  // The runner winds up when it is interrupted, but not when it is told to end.
  process.once('SIGTERM', () => process.kill(process.pid, 'SIGINT'));
  const logs = `${__dirname}/../test-results`;
  mkdirSync(logs, { recursive: true });
  const started = await Promise.allSettled(
    Array.from({ length: config.workers + 1 }, (_, at) =>
      Stack.start(`${logs}/program-${at}.log`, at < config.workers),
    ),
  );
  const stacks = started.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await Promise.all(stacks.map((stack) => stack.stop()));
    throw failed.reason;
  }
  process.env[VARIABLE] = JSON.stringify(stacks.map((stack) => stack.address));
  return async () => {
    const checked = await Promise.allSettled(stacks.map((stack) => stack.check()));
    await Promise.all(stacks.map((stack) => stack.stop()));
    const fault = checked.find((result) => result.status === 'rejected');
    if (fault) throw fault.reason;
  };
}

/** The installation of a worker, or the stage. */
export function address(worker: number): Address {
  const all = JSON.parse(process.env[VARIABLE] ?? '[]') as Address[];
  const own = all.at(worker);
  if (!own) throw new Error(`no program was started for worker ${worker}`);
  return own;
}
