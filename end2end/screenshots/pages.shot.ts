// A sheet for every page of pictures/pages.ts, and the one picture of the README.
import { mkdirSync } from 'node:fs';
import { type Browser, type BrowserContext, type Page } from '@playwright/test';
import { test } from '../fixtures';
import { PAGES, type Shown } from '../pictures/pages';
import type { Stage } from '../pictures/stage';
import { show, stopIslands } from '../pictures/still';
import { ROOT } from '../program/child';
import { type Picture, writeSheet } from './sheet';

const FOLDER = process.env.SCREENSHOTS ?? `${ROOT}/docs/screenshots`;

const LANGUAGES = { zh: 'zh-CN', en: 'en-GB' };
const SCHEMES = ['light', 'dark'] as const;
const WIDTHS = [360, 768, 1280];
const HEIGHT = 720;

mkdirSync(FOLDER, { recursive: true });

for (const shown of PAGES) {
  test(shown.name, async ({ browser, program, stage }) => {
    const pictures: Picture[] = [];
    for (const [language, locale] of Object.entries(LANGUAGES)) {
      const visitor = await enter(browser, shown, stage, { baseURL: program.url, locale });
      const page = await visitor.newPage();
      await show(page, shown, stage);
      for (const scheme of SCHEMES) {
        await page.emulateMedia({ colorScheme: scheme });
        for (const width of WIDTHS) {
          pictures.push({ width, language, scheme, png: await whole(page, width) });
        }
      }
      await visitor.close();
    }
    await writeSheet(browser, `${FOLDER}/${shown.name}.webp`, pictures);
  });
}

test('the picture of the README', async ({ browser, program, stage }) => {
  const shown = PAGES.find(({ name }) => name === 'voucher-running');
  if (!shown) throw new Error('there is no such page');
  const visitor = await enter(browser, shown, stage, {
    baseURL: program.url,
    locale: LANGUAGES.zh,
  });
  const page = await visitor.newPage();
  await page.setViewportSize({ width: 390, height: 844 });
  await show(page, shown, stage);
  await page.screenshot({ path: `${FOLDER}/voucher.png`, animations: 'disabled' });
  await visitor.close();
});

async function enter(
  browser: Browser,
  shown: Shown,
  stage: Stage,
  options: { baseURL: string; locale: string },
): Promise<BrowserContext> {
  const visitor = await browser.newContext({
    ...options,
    // As wide as a phone at first: the menu is opened where there is one.
    viewport: { width: WIDTHS[0] ?? 360, height: HEIGHT },
    reducedMotion: 'reduce',
  });
  const login = stage.logins[shown.as];
  if (login) await visitor.addCookies(login.cookies);
  await stopIslands(visitor);
  return visitor;
}

/** The whole page: the window is made as high as the page, so that what sticks to its lower edge is at the end. */
async function whole(page: Page, width: number): Promise<Buffer> {
  await page.setViewportSize({ width, height: HEIGHT });
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height: Math.max(height, HEIGHT) });
  return page.screenshot({ animations: 'disabled' });
}
