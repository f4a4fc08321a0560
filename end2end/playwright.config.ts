// How the end-to-end tests run: on Debian's Chromium, against programs and stores of their own (program/start.ts).
// What stands in tests/both is tried with JavaScript and without it.
import { defineConfig } from '@playwright/test';

const DEADLINE_MS = 10_000; // for each thing that is waited for

export default defineConfig({
  outputDir: 'test-results',
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
  ],
});
