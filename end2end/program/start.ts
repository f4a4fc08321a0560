// Before all tests: one installation for each worker. After all tests: each has to be in order, and is ended.
import { mkdirSync } from 'node:fs';
import type { FullConfig } from '@playwright/test';
import { type Address, Stack } from './stack';

const VARIABLE = 'SECKILL_END2END';

export default async function start(config: FullConfig): Promise<() => Promise<void>> {
  // The runner winds up when it is interrupted, but not when it is told to end.
  process.once('SIGTERM', () => process.kill(process.pid, 'SIGINT'));
  const logs = `${__dirname}/../test-results`;
  mkdirSync(logs, { recursive: true });
  const started = await Promise.allSettled(
    Array.from({ length: config.workers }, (_, at) => Stack.start(`${logs}/program-${at}.log`)),
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

/** The installation of a worker. */
export function address(worker: number): Address {
  const all = JSON.parse(process.env[VARIABLE] ?? '[]') as Address[];
  const own = all[worker];
  if (!own) throw new Error(`no program was started for worker ${worker}`);
  return own;
}
