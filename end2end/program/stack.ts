// One installation for tests: private stores, demo data, an admin, and a web process. The consumer process is the
// tests' own (consumer.ts), since they stop it.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ROOT, Running, run } from './child';

/** What a test needs to know of an installation. */
export interface Address {
  url: string;
  webPid: number;
  adminPassword: string;
  databaseUrl: string;
  redisUrl: string;
  /** Where the program writes what it logs. */
  log: string;
  /** The settings of the program. */
  env: Record<string, string>;
}

export const ADMIN = 'admin';
const ADMIN_PASSWORD = 'correct horse battery staple';

export const PROGRAM = process.env.SECKILL_BIN ?? `${ROOT}/target/release/seckill`;

/** What PostgreSQL names when a test lets it refuse orders: their dead letters are no fault. */
export const REFUSED_BY_TEST = 'no_orders_of_';

export class Stack {
  private constructor(
    readonly address: Address,
    private readonly env: NodeJS.ProcessEnv,
    private readonly processes: Running[],
  ) {}

  /** Starts one, with the demo data or with nothing in it. */
  static async start(log: string, demo: boolean): Promise<Stack> {
    requireBuilt();
    const env = { SECKILL_LIMITS: 'off', SECKILL_ADDR: '127.0.0.1:0', ...(await startStores()) };
    const processes: Running[] = [];
    try {
      await run(PROGRAM, ['migrate'], { env });
      await run(PROGRAM, ['admin', 'create', ADMIN], { env, input: `${ADMIN_PASSWORD}\n` });
      const web = new Running(PROGRAM, ['web'], env, log);
      processes.push(web);
      const url = await web.says(/ready: +(http:\S+)/);
      if (demo) await run(PROGRAM, ['seed'], { env });
      const address = {
        url,
        webPid: web.pid,
        adminPassword: ADMIN_PASSWORD,
        databaseUrl: env.DATABASE_URL,
        redisUrl: env.REDIS_URL,
        log,
        env,
      };
      return new Stack(address, env, processes);
    } catch (error) {
      await stopAll(processes, env);
      throw error;
    }
  }

  /** Fails when gate, queue and database disagree (an oversold, lost or leaked unit), or an error was logged. */
  async check(): Promise<void> {
    await run(PROGRAM, ['reconcile'], { env: this.env });
    const log = await readFile(this.address.log, 'utf8');
    const errors = log
      .split('\n')
      .filter((line) => line.includes(' ERROR ') && !line.includes(REFUSED_BY_TEST));
    if (errors.length > 0) throw new Error(`the program logged errors:\n${errors.join('\n')}`);
  }

  async stop(): Promise<void> {
    await stopAll(this.processes, this.env);
  }
}

function requireBuilt(): void {
  const site = `${process.env.SECKILL_SITE ?? `${ROOT}/target/site`}/hash.txt`;
  for (const file of [PROGRAM, site]) {
    if (!existsSync(file)) throw new Error(`${file} is missing: run \`make build\` first`);
  }
}

async function startStores() {
  const said = await run('scripts/stores', ['start']);
  const values = new Map(
    said
      .trim()
      .split(' ')
      .filter((word) => word.includes('='))
      .map((word): [string, string] => {
        const [name = '', ...value] = word.split('=');
        return [name, value.join('=')];
      }),
  );
  const value = (name: string) => {
    const found = values.get(name);
    if (!found) throw new Error(`scripts/stores start did not name ${name}`);
    return found;
  };
  return {
    SECKILL_STORES: value('SECKILL_STORES'),
    DATABASE_URL: value('DATABASE_URL'),
    REDIS_URL: value('REDIS_URL'),
  };
}

async function stopAll(processes: Running[], env: NodeJS.ProcessEnv): Promise<void> {
  const stopped = await Promise.allSettled(processes.map((process) => process.stop()));
  await run('scripts/stores', ['stop', env.SECKILL_STORES ?? '']);
  for (const result of stopped) {
    if (result.status === 'rejected') throw result.reason;
  }
}
