// Child processes: run one to its end, keep one running, end it by its own id.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';

export const ROOT = `${__dirname}/../..`;

const START_MS = 20_000;
const END_MS = 15_000;

/** Runs a program to its end and gives what it wrote; fails with its words when it fails. */
export function run(
  program: string,
  args: string[],
  { env = {}, input = '' }: { env?: NodeJS.ProcessEnv; input?: string } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: ROOT, env: { ...process.env, ...env } };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error) {
        reject(new Error(`${program} ${args.join(' ')}: ${stderr || stdout || error.message}`));
      } else {
        resolve(stdout);
      }
    });
    // Nothing is written where there is nothing to say: the program may have ended already.
    if (input) child.stdin?.write(input);
    child.stdin?.end();
  });
}

/** Does something while a process stands still: what is asked of it is answered afterwards. */
export async function whileStopped(pid: number, work: () => Promise<void>): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await work();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** A program that keeps running. */
export class Running {
  private readonly child: ChildProcess;
  private readonly name: string;
  /** What it has written to standard output, line by line. */
  private readonly lines: string[] = [];
  private readonly ended: Promise<void>;

  constructor(program: string, args: string[], env: NodeJS.ProcessEnv, log: string) {
    this.name = `${program} ${args.join(' ')}`;
    const options = { cwd: ROOT, env: { ...process.env, ...env } };
    this.child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stderr?.pipe(createWriteStream(log, { flags: 'a' }));
    process.once('exit', () => this.child.kill('SIGKILL')); // nothing outlives who started it
    this.ended = new Promise((resolve) => {
      this.child.once('exit', () => resolve());
      this.child.once('error', () => resolve());
    });
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`${this.name} did not start`);
    return this.child.pid;
  }

  /** Waits for a line that matches, and gives what the first group caught. */
  async says(pattern: RegExp): Promise<string> {
    const { stdout } = this.child;
    if (!stdout) throw new Error(`${this.name} has no output`);
    const lines = createInterface(stdout);
    const found = new Promise<string>((resolve) => {
      lines.on('line', (line) => {
        this.lines.push(line);
        const match = pattern.exec(line);
        if (match) resolve(match[1] ?? line);
      });
    });
    const missing = this.ended.then(() => {
      throw new Error(`${this.name} ended: ${this.lines.join('\n')}`);
    });
    return deadline(Promise.race([found, missing]), START_MS, `${this.name} did not get ready`);
  }

  /** Tells it to stop, and waits until it has. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    try {
      await deadline(this.ended, END_MS, `${this.name} did not stop when told to`);
    } finally {
      this.child.kill('SIGKILL');
    }
  }
}

async function deadline<T>(work: Promise<T>, ms: number, words: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${words} within ${ms / 1000} s`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
