// The consumer process of this worker's program: while it is held, every order stays in the queue.
import { Running } from './program/child';
import { type Address, PROGRAM } from './program/stack';

export class Consumer {
  private process: Running | undefined;

  constructor(private readonly address: Address) {}

  /** Lets it work, if it does not. */
  release(): void {
    const { env, log } = this.address;
    this.process ??= new Running(PROGRAM, ['consumer'], env, log);
  }

  /** Lets it finish what it has in hand, and stops it. */
  async hold(): Promise<void> {
    await this.process?.stop();
    this.process = undefined;
  }
}
