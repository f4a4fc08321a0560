// The stores behind the program, for what no page shows: stored rows, and a login session that ends.
import { createHash } from 'node:crypto';
import type { BrowserContext } from '@playwright/test';
import { run } from './program/child';
import { type Address, REFUSED_BY_TEST } from './program/stack';

export class Store {
  constructor(private readonly address: Address) {}

  /** The ids of the live orders of a voucher, as PostgreSQL has them. */
  async orders(voucher: number): Promise<string[]> {
    const sql = `SELECT id FROM orders WHERE voucher_id = ${voucher} AND status = 'confirmed' ORDER BY id`;
    const rows = await this.sql(sql);
    return rows.split('\n').filter(Boolean);
  }

  /** Lets PostgreSQL refuse every order of a voucher while something is done. */
  async refusingOrders(voucher: number, work: () => Promise<void>): Promise<void> {
    const constraint = `${REFUSED_BY_TEST}${voucher}`;
    await this.sql(`ALTER TABLE orders ADD CONSTRAINT ${constraint} CHECK (voucher_id <> ${voucher})`);
    try {
      await work();
    } finally {
      await this.sql(`ALTER TABLE orders DROP CONSTRAINT ${constraint}`);
    }
  }

  /** Lets the gate forget the only buyer of a voucher, with the unit that is theirs. */
  async forgetBuyer(voucher: number): Promise<void> {
    // In one step: units that are gone without a buyer are a fault that the program mends within a second.
    const script = "redis.call('DEL', KEYS[1]) return redis.call('INCR', KEYS[2])";
    await this.redis('EVAL', script, '2', `seckill:{0}:buyers:${voucher}`, `seckill:{0}:stock:${voucher}`);
  }

  /** Ends a visitor's login session on the server; the key holds a hash of what the cookie holds. */
  async endSession(visitor: BrowserContext): Promise<void> {
    const cookies = await visitor.cookies();
    const id = cookies.find((cookie) => cookie.name === 'session')?.value ?? '';
    const hash = createHash('sha256').update(Buffer.from(id, 'base64url')).digest('hex');
    const ended = await this.redis('DEL', `seckill:session:${hash}`);
    if (ended.trim() !== '1') throw new Error('there was no session to end');
  }

  private sql(statement: string): Promise<string> {
    return run('psql', [this.address.databaseUrl, '--no-psqlrc', '-Atqc', statement]);
  }

  private redis(...command: string[]): Promise<string> {
    return run('redis-cli', ['--no-auth-warning', '-u', this.address.redisUrl, ...command]);
  }
}
