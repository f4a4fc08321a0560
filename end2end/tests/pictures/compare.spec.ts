// The main pages look as they did: held against committed pictures where letters are drawn as they were then, and always
// against the places and widths of the parts, which do not depend on letters. After a change that is meant:
//   node_modules/.bin/playwright test --project=pictures --update-snapshots
import type { Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { letters, recordLetters, recordedLetters } from '../../pictures/letters';
import { PAGES } from '../../pictures/pages';
import { show, stopIslands } from '../../pictures/still';

/** The share of a picture's points that may differ: what a rounding of the compositor makes of an edge. */
const TOLERANCE = 0.002;

const LOOKS = [
  { width: 360, height: 740, locale: 'zh-CN', colorScheme: 'light' },
  { width: 1280, height: 800, locale: 'en-GB', colorScheme: 'dark' },
] as const;

/** Parts whose places follow from the style sheet and not from what is written in them. */
const PARTS =
  'header, main, footer, main > *, .narrow > *, .voucher-page > *, .card, .field, table';

let drawnWith = '';

test.beforeAll(async ({ browser, program }) => {
  drawnWith = await letters(browser, program.url);
  const { updateSnapshots } = test.info().config;
  if (['all', 'changed'].includes(updateSnapshots)) recordLetters(drawnWith);
});

for (const { width, height, locale, colorScheme } of LOOKS) {
  test.describe(`at ${width} px`, () => {
    test.use({
      viewport: { width, height },
      locale,
      colorScheme,
      contextOptions: { reducedMotion: 'reduce' },
    });

    for (const shown of PAGES.filter(({ compared }) => compared)) {
      test(shown.name, async ({ page, context, stage, faults }) => {
        faults.expect(/status of 404/);
        const login = stage.logins[shown.as];
        if (login) await context.addCookies(login.cookies);
        await stopIslands(context);
        await show(page, shown, stage);
        const name = `${shown.name}-${width}`;
        expect(await places(page)).toMatchSnapshot(`${name}.txt`);
        if (drawnWith === recordedLetters()) {
          await expect(page).toHaveScreenshot(`${name}.png`, {
            fullPage: true,
            maxDiffPixelRatio: TOLERANCE,
          });
        } else {
          const description = `letters are drawn by ${drawnWith}, and were by ${recordedLetters()}`;
          test.info().annotations.push({ type: 'places compared, and no picture', description });
        }
      });
    }
  });
}

/** Where the parts stand and how wide they are, a line each. */
function places(page: Page): Promise<string> {
  return page.evaluate((parts) => {
    const lines = [...document.querySelectorAll(parts)].flatMap((part) => {
      const { x, width } = part.getBoundingClientRect();
      const name = [part.localName, ...part.classList].join('.');
      return width > 0 ? `${name}: ${Math.round(x)} + ${Math.round(width)}\n` : [];
    });
    return lines.join('');
  }, PARTS);
}
