// Takes pictures of the main pages: node_modules/.bin/playwright test --config screenshots.config.ts
// They go to SCREENSHOTS, or to target/screenshots.
import { defineConfig } from '@playwright/test';
import tests from './playwright.config';

export default defineConfig({
  ...tests,
  workers: 1,
  projects: [
    {
      name: 'phone',
      testMatch: 'screenshots/*.shot.ts',
      use: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, locale: 'zh-CN' },
    },
    {
      name: 'desk',
      testMatch: 'screenshots/*.shot.ts',
      use: { viewport: { width: 1280, height: 800 }, locale: 'en-GB' },
    },
  ],
});
