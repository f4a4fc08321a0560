// The main pages as a screen reader has them: headings, landmarks, names of controls, in order. After a change that is
// meant: node_modules/.bin/playwright test --project=pictures --update-snapshots
import { expect, test } from '../../fixtures';
import { PAGES } from '../../pictures/pages';
import { show, stopIslands } from '../../pictures/still';

for (const shown of PAGES.filter(({ compared }) => compared)) {
  test(shown.name, async ({ page, context, stage, faults }) => {
    faults.expect(/status of 404/);
    const login = stage.logins[shown.as];
    if (login) await context.addCookies(login.cookies);
    await stopIslands(context);
    await show(page, shown, stage);
    await expect(page.locator('body')).toMatchAriaSnapshot({ name: `${shown.name}.aria.yml` });
  });
}
