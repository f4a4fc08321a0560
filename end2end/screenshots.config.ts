// Takes pictures of every page; scripts/screenshots runs it.
import { defineConfig } from '@playwright/test';
import type { OfWorker } from './fixtures';
import tests from './playwright.config';

export default defineConfig<object, Partial<OfWorker>>({
  ...tests,
  workers: 1,
  fullyParallel: false,
  timeout: 120_000,
  projects: [{ name: 'screenshots', testMatch: 'screenshots/*.shot.ts', use: { onStage: true } }],
});
