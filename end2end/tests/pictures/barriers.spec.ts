// Everybody can use every page of the list in every look: axe finds nothing by WCAG 2.2 AA and its own best practice,
// on a phone and on a desk, light and dark, in both languages.
import { barriers } from '../../faults';
import { expect, test } from '../../fixtures';
import { PAGES } from '../../pictures/pages';
import { show, stopIslands } from '../../pictures/still';

const SIZES = [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
];

for (const [locale, colorScheme] of [
  ['zh-CN', 'light'],
  ['en-GB', 'dark'],
] as const) {
  test.describe(`in ${colorScheme}`, () => {
    test.use({ locale, colorScheme });

    for (const shown of PAGES) {
      test(shown.name, async ({ page, context, stage, faults }) => {
        faults.expect(/status of 404/);
        const login = stage.logins[shown.as];
        if (login) await context.addCookies(login.cookies);
        await stopIslands(context);
        for (const size of SIZES) {
          await page.setViewportSize(size);
          await show(page, shown, stage);
          expect(await barriers(page), `at ${size.width} px`).toEqual([]);
        }
      });
    }
  });
}
