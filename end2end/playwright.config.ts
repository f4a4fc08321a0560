// How the end-to-end tests run: on Debian's Chromium, against programs and stores of their own (program/start.ts).
// What stands in tests/both is tried with JavaScript and without it.
import { defineConfig } from '@playwright/test';
import type { OfWorker } from './fixtures';

const DEADLINE_MS = 10_000; // for each thing that is waited for

export default defineConfig<object, Partial<OfWorker>>({
  outputDir: 'test-results',
  snapshotPathTemplate: '{testDir}/{testFileDir}/{testFileName}-pictures/{arg}{ext}',
  globalSetup: './program/start.ts',
  workers: 2, // each has a program and stores of its own
  fullyParallel: true,
  retries: 0,
  forbidOnly: true,
  timeout: 60_000,
  expect: { timeout: DEADLINE_MS },
  reporter: 'list',
  use: {
    actionTimeout: DEADLINE_MS,
    navigationTimeout: DEADLINE_MS,
    locale: 'en-GB',
    timezoneId: 'Asia/Shanghai',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
  projects: [
    {
      name: 'with script',
      testMatch: ['tests/both/*.spec.ts', 'tests/script/*.spec.ts'],
    },
    {
      name: 'without script',
      testMatch: 'tests/both/*.spec.ts',
      use: { javaScriptEnabled: false },
    },
    {
      name: 'pictures',
      testMatch: 'tests/pictures/*.spec.ts',
      fullyParallel: false, // one stage
      workers: 1,
      use: { onStage: true },
    },
    {
      // Times are measured when nothing else runs.
      name: 'speed',
      testMatch: 'tests/speed/*.spec.ts',
      dependencies: ['with script', 'without script', 'pictures'],
      workers: 1,
    },
  ],
});
