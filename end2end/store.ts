// The stores behind the program, for what no page shows: stored rows, and a login session that ends.
import { run } from './program/child';
import type { Address } from './program/stack';

export class Store {
  constructor(private readonly address: Address) {}

  /** The ids of the live orders of a voucher, as PostgreSQL has them. */
  async orders(voucher: number): Promise<string[]> {
    const sql = `SELECT id FROM orders WHERE voucher_id = ${voucher} AND status = 'confirmed' ORDER BY id`;
    const rows = await run('psql', [this.address.databaseUrl, '--no-psqlrc', '-Atc', sql]);
    return rows.split('\n').filter(Boolean);
  }

  /** Ends all login sessions on the server. */
  async endSessions(): Promise<void> {
    const keys = (await this.redis('--scan', '--pattern', 'seckill:session:*')).split('\n');
    await this.redis('DEL', ...keys.filter(Boolean));
  }

  private redis(...command: string[]): Promise<string> {
    return run('redis-cli', ['--no-auth-warning', '-u', this.address.redisUrl, ...command]);
  }
}
